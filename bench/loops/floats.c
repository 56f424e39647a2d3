/* Kernels over arrays of floating-point numbers. Reductions keep their order. */

void saxpy(float *y, float *x, float a, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

float sum(float *a, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

double dot(double *a, double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

void scale(double *a, double k, int n)
{
    for (int i = 0; i < n; i++)
        a[i] *= k;
}

double horner(double *a, int n, double x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s = s * x + a[i];
    return s;
}

void reverse_copy(float *a, float *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[n - 1 - i];
}

void fill(float *a, int n, float x)
{
    for (int i = 0; i < n; i++)
        a[i] = x;
}

void clip(float *a, int n, float top)
{
    for (int i = 0; i < n; i++)
        if (a[i] > top)
            a[i] = top;
}

void widen(double *a, float *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}

void two_dimensions(double (*a)[16], double (*b)[16], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 16; j++)
            a[i][j] = a[i][j] + b[i][j];
}

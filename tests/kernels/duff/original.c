#define N 13
void f(float A[N], float B[N]) {
  for (int i = 0; i < N; i++)
    A[i] = A[i] * B[i] + 1.0f;
}

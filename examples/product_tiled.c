/* The same in tiles, so that the rows of b stay in the cache. */
#define TILE 4
#define MIN(x, y) ((x) < (y) ? (x) : (y))

void product(int n, double a[n][n], double b[n][n], double c[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i][j] = 0;
    for (int kk = 0; kk < n; kk += TILE)
        for (int jj = 0; jj < n; jj += TILE)
            for (int i = 0; i < n; i++)
                for (int k = kk; k < MIN(kk + TILE, n); k++)
                    for (int j = jj; j < MIN(jj + TILE, n); j++)
                        c[i][j] += a[i][k] * b[k][j];
}

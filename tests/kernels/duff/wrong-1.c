// different --fp ieee
#define N 13
void f(float A[N], float B[N]) {
  int i = 0;
  switch (N % 4) {
  case 3:
    A[i] = A[i] * B[i] + 1.0f;
    i++;
  case 2:
    A[i] = A[i] * B[i] + 1.0f;
    i++;
  case 1:
    A[i] = A[i] * B[i] + 1.0f;
    i++;
  case 0:;
  }
  for (; i < N; i += 4) {
    A[i] = A[i] * B[i] + 1.0f;
    A[i + 1] = A[i + 1] * B[i + 1] + 1.0f;
    A[i + 2] = A[i + 2] * B[i + 2] + 1.0f;
    A[i + 3] = A[i + 3] * B[i + 2] + 1.0f;
  }
}

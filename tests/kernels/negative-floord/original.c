void k(int N, double A[2*N+1], double B[2*N+1]) {
  for (int i = -N; i <= N; i++) B[i + N] = A[N - i] * 2 + (double)i;
}

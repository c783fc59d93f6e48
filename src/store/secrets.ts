export interface SecretStore {
  /** What is kept under a name: this value, unless another one was kept before. */
  keepSecret(name: string, value: string): Promise<string>;
}

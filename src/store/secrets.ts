export interface SecretStore {
  /** The value kept under a name: this one, unless another was kept before. */
  keepSecret(name: string, value: string): Promise<string>;
}

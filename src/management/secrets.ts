import { hash } from 'node:crypto';

/** SHA-256 in hex: what is stored of a random secret such as a key. Passwords are not random; see `passwords.ts`. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

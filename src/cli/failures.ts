import { CommanderError } from 'commander';
import { EncryptionKeyError } from '../assembly/encryption-keys.js';
import { GatewayUnreachableError } from '../client/api-client.js';
import { StoppedGatewayError } from '../client/client.js';
import { CONFIG_EXIT_CODE, ConfigError, mistakeWire } from '../config/mistakes.js';
import { GatewayError, messageOf } from '../core/errors.js';
import { StoreUnavailableError } from '../store/store.js';
import { UsageError } from './errors.js';
import { inOptions } from './option-names.js';

/** Understood but refused: what is named does not exist, or is in the wrong state for it. */
const REFUSED = 1;
/** Not understood: a wrong command, option or value. */
const USAGE = 2;
/** `EX_UNAVAILABLE` of sysexits: the store, or the gateway, cannot be reached. */
const UNAVAILABLE = 69;

/** Why a command failed, as it is printed, and the exit code of that. */
export function explain(error: unknown): {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly mistakes?: readonly ReturnType<typeof mistakeWire>[];
} {
  if (error instanceof ConfigError) {
    const mistakes = error.mistakes.map(mistakeWire);
    return { code: 'invalid_config', exitCode: CONFIG_EXIT_CODE, message: error.message, mistakes };
  }
  if (error instanceof StoreUnavailableError) {
    const message = `The store cannot be reached: ${error.message}`;
    return { code: 'store_unavailable', exitCode: UNAVAILABLE, message };
  }
  if (error instanceof EncryptionKeyError) {
    return { code: 'wrong_encryption_key', exitCode: CONFIG_EXIT_CODE, message: error.message };
  }
  if (error instanceof GatewayUnreachableError) {
    return { code: 'gateway_unreachable', exitCode: UNAVAILABLE, message: error.message };
  }
  if (error instanceof GatewayError) {
    const exitCode = error.code === 'invalid_request' ? USAGE : REFUSED;
    return { code: error.code, exitCode, message: inOptions(error.message) };
  }
  if (error instanceof CommanderError) {
    const message =
      error.code === 'commander.help'
        ? 'The command is incomplete; see --help.'
        : error.message.replace(/^error: /, '');
    return { code: 'invalid_request', exitCode: USAGE, message };
  }
  if (error instanceof UsageError || error instanceof StoppedGatewayError) {
    return { code: 'invalid_request', exitCode: USAGE, message: error.message };
  }
  return { code: 'refused', exitCode: REFUSED, message: messageOf(error) };
}

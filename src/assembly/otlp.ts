import type { Config } from '../config/values.js';
import { systemCode } from '../core/errors.js';
import type { Logger } from '../telemetry/log.js';
import { INSTALL, loadOtlp, type OtlpPackages, type OtlpSettings } from '../telemetry/otlp.js';

/** What exports by OTLP, and where to; absent unless the settings ask for it. */
export interface OpenedOtlp {
  readonly packages: OtlpPackages;
  readonly settings: OtlpSettings;
  /** The part of the requests that begin a trace here. */
  readonly ratio: number;
}

/**
 * Loads what exports traces and logs. Where the optional packages are missing, the log says how to install them and the
 * gateway serves without: the variable may be set for a whole cluster.
 */
export async function openOtlp(
  { otlpUrl, otlpHeaders, serviceName, traceRatio, logs }: Config['telemetry'],
  logger: Logger,
  load: () => Promise<OtlpPackages> = loadOtlp,
): Promise<OpenedOtlp | undefined> {
  if (otlpUrl === undefined) return undefined;
  try {
    const packages = await load();
    const headers = headersIn(otlpHeaders?.reveal() ?? '');
    const settings = { url: otlpUrl, headers, serviceName, logs };
    return { packages, settings, ratio: traceRatio };
  } catch (error) {
    if (systemCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    logger.warn(`Traces are not exported: OpenTelemetry is not installed. Run: ${INSTALL}`);
    return undefined;
  }
}

/** `name=value,name=value`, values percent-encoded, as OpenTelemetry's variable has it. */
function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

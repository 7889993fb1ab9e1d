import { platformDisagreements } from './platforms.ts';
import { prefixDisagreements } from './prefixes.ts';

interface Together {
  readonly platforms: Parameters<typeof platformDisagreements>[0];
  readonly brokerPort: number;
  readonly controlUser: string;
  readonly masterKey: unknown;
  readonly masterKeyCommand: unknown;
  readonly masterKeyFile: unknown;
  readonly metricsPort: number | null;
  readonly port: number;
  readonly prefixes: Parameters<typeof prefixDisagreements>[0];
  readonly relayUser: string;
  readonly systemUser: string;
  readonly tlsCert: unknown;
  readonly tlsKey: unknown;
}

/** Finds values that are valid alone and contradict each other. */
export function disagreements(config: Together): string[] {
  const found = [...platformDisagreements(config.platforms), ...prefixDisagreements(config.prefixes)];
  const keys = [config.masterKeyFile, config.masterKey, config.masterKeyCommand].filter((key) => key !== null);
  if (keys.length > 1) {
    found.push('LODGE_MASTER_KEY_FILE, LODGE_MASTER_KEY and LODGE_MASTER_KEY_COMMAND exclude one another');
  }
  if ((config.tlsCert === null) !== (config.tlsKey === null))
    found.push('LODGE_TLS_CERT and LODGE_TLS_KEY go together');
  // The database could read the control plane's memory and the keys in it.
  if (config.systemUser === config.controlUser) found.push('LODGE_SYSTEM_USER and LODGE_CONTROL_USER must differ');
  // Relays parse strangers' messages: as one of these users they would have its rights.
  if ([config.systemUser, config.controlUser].includes(config.relayUser))
    found.push('LODGE_RELAY_USER must differ from LODGE_SYSTEM_USER and LODGE_CONTROL_USER');
  if (config.port === config.brokerPort) found.push('LODGE_BROKER_PORT and LODGE_PORT must differ');
  if (config.port === config.metricsPort) found.push('LODGE_METRICS_PORT and LODGE_PORT must differ');
  if (config.brokerPort === config.metricsPort) found.push('LODGE_METRICS_PORT and LODGE_BROKER_PORT must differ');
  return found;
}

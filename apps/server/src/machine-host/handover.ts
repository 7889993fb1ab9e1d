/**
 * The machine host passes these to its control plane over the channel, once: none of them is in an environment or a command
 * line.
 */
import type { Message } from '@lodge/vm/remote';
import { secretVariables } from '../config/config.ts';
import type { Host } from './host.ts';

/** The argument that makes an entry's process the control plane. */
export const controlPlaneRole = 'control-plane';
/** The channel's file descriptor there. */
export const channelFd = 3;

export interface Handover extends Pick<Host, 'connectionString' | 'masterKey' | 'tls' | 'platformFiles'> {
  /** Address that the broker listens on. */
  readonly brokerHost: string;
  /** Variables of the configuration that may hold a credential. */
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Root runs it, so the process that reads the key needs no command. The value here tells the control plane where its key
 * comes from.
 */
const masterKeyCommand = 'LODGE_MASTER_KEY_COMMAND';
const commandStandsElsewhere = '# run by the machine host';

/** Takes the secrets out of an environment, whose rest this process' children inherit. */
export function takeSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const name of secretVariables) {
    const value = env[name];
    delete env[name];
    if (value) secrets[name] = name === masterKeyCommand ? commandStandsElsewhere : value;
  }
  return secrets;
}

export function handoverMessage({ masterKey, tls, ...plain }: Handover): Message {
  const base64 = (bytes: Buffer): string => bytes.toString('base64');
  return {
    kind: 'handover',
    ...plain,
    masterKey: base64(masterKey),
    tls: tls && { cert: base64(tls.cert), key: base64(tls.key) },
  };
}

/** Reads a message of `handoverMessage`. */
export function readHandover(message: Message): Handover {
  const { masterKey, tls, connectionString, brokerHost, secrets, platformFiles } = message as unknown as {
    readonly masterKey: string;
    readonly tls: { readonly cert: string; readonly key: string } | null;
  } & Pick<Handover, 'connectionString' | 'brokerHost' | 'secrets' | 'platformFiles'>;
  const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');
  return {
    connectionString,
    brokerHost,
    secrets,
    platformFiles,
    masterKey: bytes(masterKey),
    tls: tls && { cert: bytes(tls.cert), key: bytes(tls.key) },
  };
}

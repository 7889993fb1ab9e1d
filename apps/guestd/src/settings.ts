import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { browserPort, credentialDigestPattern, credentialParameter, guestdPort, hostAddress } from '@lodge/guest';
import { systemCode } from './errors.ts';

/** What differs between a guest and a test, or another kind of guest: in a VM the daemon is started without arguments. */
export interface Settings {
  readonly port: number;
  /** The only address whose connections are served. Null: any, where the host has no address of its own in the guest's network. */
  readonly peer: string | null;
  /** SHA-256 of the credential that the daemon knows the host by from its start on; null: of the first call. */
  readonly credentialDigest: string | null;
  /** Prefix of the system's own paths (`/etc/lodge`, `/var/log/lodge`, `/sys` ...); without a trailing slash, empty in a guest. */
  readonly root: string;
  readonly agent: { readonly uid: number; readonly gid: number };
  readonly browser: BrowserSettings;
}

export interface BrowserSettings {
  /** Its user and group. */
  readonly uid: number;
  /** Where the agent's programs find it, on loopback. */
  readonly port: number;
  /** The time without use after which it ends. */
  readonly idleMs: number;
  /** Started in place of the Chromium of the machine's disk. */
  readonly program: string | null;
}

export function readSettings(argv: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: 'string', default: String(guestdPort) },
      // `any` for none.
      peer: { type: 'string', default: hostAddress },
      // Of a guest without a kernel of its own. No secret: it opens nothing.
      'credential-sha256': { type: 'string' },
      root: { type: 'string', default: '' },
      'agent-uid': { type: 'string', default: '1000' },
      'browser-uid': { type: 'string', default: '1001' },
      'browser-port': { type: 'string', default: String(browserPort) },
      'browser-idle-ms': { type: 'string', default: '600000' },
      'browser-program': { type: 'string' },
    },
  });
  const uid = Number(values['agent-uid']);
  const { root } = values;
  const peer = values.peer === 'any' ? null : values.peer;
  const credentialDigest = values['credential-sha256'] ?? bootedWith(root);
  if (credentialDigest !== null && !credentialDigestPattern.test(credentialDigest)) {
    throw new Error('the digest of the host’s credential must be 64 hexadecimal digits');
  }
  if (peer === null && credentialDigest === null) {
    throw new Error(
      'without a peer, the digest of the host’s credential must be given: anybody could claim the daemon',
    );
  }
  const browser = {
    uid: Number(values['browser-uid']),
    port: Number(values['browser-port']),
    idleMs: Number(values['browser-idle-ms']),
    program: values['browser-program'] ?? null,
  };
  return { port: Number(values.port), peer, credentialDigest, root, agent: { uid, gid: uid }, browser };
}

/** What the kernel was told as it booted. */
function bootedWith(root: string): string | null {
  try {
    const parameters = readFileSync(`${root}/proc/cmdline`, 'utf8').trim().split(/\s+/);
    const name = `${credentialParameter}=`;
    return parameters.find((parameter) => parameter.startsWith(name))?.slice(name.length) ?? null;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

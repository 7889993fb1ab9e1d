import { parseArgs } from 'node:util';
import { guestdPort, hostAddress } from '@lodge/guest';

/** What differs between a guest and a test: in a guest the daemon is started without arguments. */
export interface Settings {
  readonly port: number;
  /** The only address whose connections are served. */
  readonly peer: string;
  /** Prefix of the system's own paths (`/etc/lodge`, `/var/log/lodge`, `/sys` ...); without a trailing slash, empty in a guest. */
  readonly root: string;
  readonly agent: { readonly uid: number; readonly gid: number };
}

export function readSettings(argv: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: 'string', default: String(guestdPort) },
      peer: { type: 'string', default: hostAddress },
      root: { type: 'string', default: '' },
      'agent-uid': { type: 'string', default: '1000' },
    },
  });
  const uid = Number(values['agent-uid']);
  return { port: Number(values.port), peer: values.peer, root: values.root, agent: { uid, gid: uid } };
}

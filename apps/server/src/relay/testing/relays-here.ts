/** Relays of a test, with a machine host's door: in this process, and without a box. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainCommand } from '../../machine-host/relays/command.ts';
import { launchRelay, openRelayDoor } from '../../machine-host/relays/door.ts';
import { startRelays } from '../relays.ts';
import type { Relays, RelaysOptions } from '../relays.ts';

export interface RelaysHere extends Relays {
  readonly pids: readonly number[];
}

/** `entry`: by default the product's. */
export async function relaysHere(options: Omit<RelaysOptions, 'launch'>, entry?: string): Promise<RelaysHere> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-relays-'));
  const { log } = options;
  const door = await openRelayDoor({ folder, control: null, command: () => plainCommand(process.env, entry), log });
  const relays = startRelays({ ...options, launch: (group) => launchRelay(folder, group) });
  return {
    check: relays.check,
    get pids() {
      return door.pids;
    },
    async close() {
      await relays.close();
      await door.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

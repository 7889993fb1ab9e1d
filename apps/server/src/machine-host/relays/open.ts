import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@lodge/ports';
import type { Closing } from '../../closing.ts';
import type { Config } from '../../config/config.ts';
import { openControlGroup } from '../control-group.ts';
import { ControlUserError, findUser } from '../control-user.ts';
import type { User } from '../control-user.ts';
import { boxedCommand, plainCommand } from './command.ts';
import { openRelayDoor, relayDoorOf } from './door.ts';
import type { RelayCommand, RelayDoor } from './door.ts';

export interface RelaysOfHost {
  /** The control plane's user; null if this process is the control plane. */
  readonly control: User | null;
  readonly log: Log;
  /** By default the product's. */
  readonly entry?: string;
}

/** Opens the door for starting relay processes. Throws `ControlUserError` without their user. */
export async function openRelays(config: Config, given: RelaysOfHost, closing: Closing): Promise<RelayDoor> {
  const folder = relayDoorOf(config);
  const command = await commandOf(config, folder, given, closing);
  const { control, log } = given;
  const door = await openRelayDoor({ folder, control, command: () => command, log });
  closing.push(() => door.close());
  return door;
}

async function commandOf(
  config: Config,
  folder: string,
  { log, entry }: RelaysOfHost,
  closing: Closing,
): Promise<RelayCommand> {
  const { env } = process;
  // This is for tests: only root can give a process another user.
  if (process.geteuid!() !== 0) return plainCommand(env, entry);
  const user = await relayUser(config);
  const root = join(folder, 'box');
  await mkdir(root, { recursive: true, mode: 0o700 });
  const group = await openControlGroup({ ...config, of: 'relays' });
  closing.push(() => group.end());
  for (const what of group.missing) log.warn({ what }, 'no bound on relays from a control group');
  return boxedCommand({ env, user, group, root, ...(entry !== undefined && { entry }) });
}

async function relayUser({ relayUser: name }: Pick<Config, 'relayUser'>): Promise<User> {
  const user = await findUser(name);
  if (user === null) {
    throw new ControlUserError(
      `The system user ${name}, which relays of channels run as, does not exist. Make it: useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${name}`,
    );
  }
  if (user.uid === 0 || user.gid === 0)
    throw new ControlUserError('LODGE_RELAY_USER must not be root or of its group.');
  return user;
}

import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { ownFolderOf } from '../machine-host/control-user.ts';
import { setUpsOf } from './platforms.ts';
import type { PlatformFiles } from './platforms.ts';
import type { RelaysOptions } from './relays.ts';

/** The settings that relay processes get. `read`: all that root has read for platforms. */
export const relaySettings = (
  config: Pick<Config, 'platforms' | 'instance' | 'logLevel'>,
  read: PlatformFiles = {},
): Pick<RelaysOptions, 'platforms' | 'instance' | 'logLevel'> => ({
  platforms: setUpsOf(config, read),
  instance: config.instance,
  logLevel: config.logLevel,
});

/** Half a floor above the floor of agents: files stop well before anybody is paused for lack of disk space. */
export const channelFilesFreeBytes = ({ diskFloorMib }: Config): number => diskFloorMib * 1.5 * 2 ** 20;

export const channelFilesDir = (config: Config): string => join(ownFolderOf(config), 'channel-files');

import { join } from 'node:path';
import { InstalledVersions } from '@lodge/images';
import type { Config } from '../config/config.ts';

/** The versions of runtimes that this deployment has beside those that Lodge brings. */
export const installedVersions = ({ dataDir }: Pick<Config, 'dataDir'>): InstalledVersions =>
  new InstalledVersions(join(dataDir, 'runtimes'));

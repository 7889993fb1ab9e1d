import { join } from 'node:path';
import { InstalledVersions } from '@lodge/images';
import type { Config } from '../config/config.ts';

/** Versions of runtimes beside those that Lodge brings, as this deployment has them. */
export const installedVersions = ({ dataDir }: Pick<Config, 'dataDir'>): InstalledVersions =>
  new InstalledVersions(join(dataDir, 'runtimes'));

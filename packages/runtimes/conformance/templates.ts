/** Which template of a runtime this host's cache has, looked up without a Lodge. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentRuntime } from '@lodge/ports';
import { createImageBuilder } from '@lodge/images';
import { readConfig } from '../../../apps/server/src/config/config.ts';
import { openMachines } from '../../../apps/server/src/host/machines.ts';
import { earlyVariant } from '../../engine/src/templates/maker.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** `full`: it is warm. `early`: it serves a first agent (docs/templates.md). */
export type Stage = 'none' | 'early' | 'full';

/** The warmest template there is for agents of this runtime, in the version that Lodge brings. */
export async function templateOf(runtime: AgentRuntime): Promise<Stage> {
  // A Lodge under test has a data folder of its own, with no template in it yet.
  const config = readConfig({ ...process.env, LODGE_DATA_DIR: join(tmpdir(), 'lodge-without-templates') });
  const { driver } = await openMachines(config, silent);
  const id = await createImageBuilder({ cacheDir: config.cacheDir, log: silent }).idOf(runtime.name);
  const has = async (variant: string | null): Promise<boolean> =>
    variant !== null && (await driver.findTemplate({ image: { id }, variant })) !== null;
  if (await has(runtime.templateVariant)) return 'full';
  return (await has(earlyVariant(runtime))) ? 'early' : 'none';
}

/** Saved machines of this host: how many there are, the disk that they alone take up, and those that are wrong. Reads only. */
import { join } from 'node:path';
import { restedAgent } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { keptMachines, snapshotStates } from '@lodge/store/snapshots';
import { savedIds } from '@lodge/vm/portable';
import type { Config } from '../../config/config.ts';
import { exists } from '../../host/files.ts';
import { found, note, ok, warn } from '../../host/finding.ts';
import type { Finding, Section } from '../../host/finding.ts';
import { holderName } from '../take-down.ts';
import { askStore } from './ask-store.ts';
import { sizeMib, sizeText } from './folder-size.ts';

/** Further ones are summed up. */
const maxNamed = 10;

export async function savedSection(config: Config, log: Log): Promise<Section> {
  const more: Finding[] = [];
  const summary = await found('saved machines', async () => {
    // The machines come first: each has a row before it is there.
    const ids = (await savedIds(config.dataDir)).filter((id) => restedAgent(id) === null);
    const rows = await askStore(config, log, ({ database }) =>
      database.repeatable(async (db) => ({ needed: await keptMachines(db), states: await snapshotStates(db) })),
    );
    if (rows !== null) more.push(...(await troubles(config, ids, rows)));
    return ids.length === 0 ? ok('saved machines', 'none') : ok('saved machines', await diskText(config, ids));
  });
  return { title: 'Saved machines', findings: [summary, ...more] };
}

/** Layers that agents' machines have too count as theirs. */
async function diskText({ dataDir }: Config, ids: readonly string[]): Promise<string> {
  const counted = new Set<string>();
  const atRest = (await savedIds(dataDir)).filter((id) => restedAgent(id) !== null);
  for (const folder of ['vms', ...atRest.map((id) => join('saved', id))]) {
    if (await exists(join(dataDir, folder))) await sizeMib(join(dataDir, folder), counted);
  }
  let alone = 0;
  // One that is freed meanwhile takes up nothing.
  for (const id of ids) alone += await sizeMib(join(dataDir, 'saved', id), counted).catch(() => 0);
  return `${ids.length}, ${sizeText(alone)} that no agent's machine has too`;
}

interface Rows {
  readonly needed: ReadonlySet<string>;
  readonly states: Awaited<ReturnType<typeof snapshotStates>>;
}

async function troubles(config: Config, there: readonly string[], { needed, states }: Rows): Promise<Finding[]> {
  const own = states.filter(({ host }) => host === holderName(config));
  const damaged = own.filter(({ status }) => status === 'damaged').map(({ id }) => id);
  const missing: string[] = [];
  for (const { id, status } of own) {
    if (status === 'ready' && !(await exists(join(config.dataDir, 'saved', id)))) missing.push(id);
  }
  const unneeded = there.filter((id) => !needed.has(id));
  return [
    ...(damaged.length > 0
      ? [warn('damaged', listed(damaged), 'delete these snapshots, and look at the disk: older ones may be whole')]
      : []),
    ...(missing.length > 0
      ? [warn('missing', listed(missing), 'these snapshots have no machine here; within an hour they count as damaged')]
      : []),
    ...(unneeded.length > 0
      ? [note('needed by nothing', listed(unneeded), 'Lodge frees them within a minute while it runs')]
      : []),
  ];
}

function listed(ids: readonly string[]): string {
  const rest = ids.length - maxNamed;
  return `${ids.length}: ${ids.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

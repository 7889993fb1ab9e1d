/**
 * Takes the templates under agents' disks into the data folder at start: those of agents from before templates were kept
 * there, and those that are missing there. The disk of a VM that does not run is put over its template at once, any other at
 * its next start (`vm-make.ts`). None of them needs the cache afterwards.
 */
import { readdir } from 'node:fs/promises';
import type { Log } from '@lodge/ports';
import { isAlive } from '../host/process.ts';
import { backingOf, moveDisk } from '../saved/backing.ts';
import type { OwnTemplates } from '../saved/own-templates.ts';
import { bottomOf } from '../saved/layers.ts';
import { isAgentId, RunDirectory } from '../saved/run-directory.ts';
import { templateOfDisk } from '../saved/template-shelf.ts';

/** A template that cannot be taken leaves its agents as they are: each start reports the lack, and tries again. */
export async function takeTemplates({
  own,
  vmsRoot,
  log,
}: {
  readonly own: OwnTemplates;
  readonly vmsRoot: string;
  readonly log: Log;
}): Promise<void> {
  const tried = new Map<string, boolean>();
  for (const name of await readdir(vmsRoot)) {
    // Earlier releases put the VM of an agent that was upgraded aside.
    const agentId = name.replace(/\.aside$/, '');
    if (!isAgentId(agentId)) continue;
    const directory = new RunDirectory(vmsRoot, agentId, name);
    const fields = { agent_id: directory.agentId };
    try {
      const bottom = await bottomOf(directory.disk);
      const backing = await backingOf(bottom);
      const record = await directory.read();
      const id = record?.templateId ?? (backing && templateOfDisk(backing));
      if (backing === null || !id) continue;
      if (!tried.has(id)) tried.set(id, (await own.has(id)) || (await own.take(id)));
      if (!tried.get(id)) log.warn({ ...fields, template: id }, 'the template of an agent is nowhere');
      else if (!record?.process || !isAlive(record.process)) await moveDisk(bottom, own.file(id, 'disk'));
    } catch (error) {
      log.warn({ ...fields, err: error }, 'the template of an agent is not taken into the data folder');
    }
  }
}

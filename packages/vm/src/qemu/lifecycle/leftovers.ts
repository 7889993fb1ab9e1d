/**
 * Removes an earlier control plane's remains from this host, once at start. It removes everything of this instance without a
 * run directory: QEMU processes whose control socket lies in the instance's folders, namespaces, control groups, and
 * everything of template builds (their builder is dead, because this process holds the instance's lock). It touches nothing
 * with a run directory, however incomplete: the agent may be in the database, and `list` shows it.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import { findProcesses, kill } from '../host/process.ts';
import type { HostNetwork } from '../network/index.ts';
import type { VmRecord } from '../saved/run-directory.ts';
import type { TemplateStore } from '../saved/template-store.ts';

export interface LeftoverPlaces {
  readonly vmsRoot: string;
  readonly buildsRoot: string;
  readonly network: HostNetwork;
  readonly cgroups: Cgroups;
  readonly store: TemplateStore;
  readonly log: Log;
}

/** `records` has every run directory's name, with its record where that could be read. */
export async function collectLeftovers(
  places: LeftoverPlaces,
  records: ReadonlyMap<string, VmRecord | null>,
): Promise<void> {
  const { network, cgroups, store, log } = places;
  for (const orphan of await orphans(places, records)) {
    log.warn({ pid: orphan.pid }, 'ending a QEMU that belongs to no run directory');
    await kill(orphan);
  }
  const slots = new Set([...records.values()].map((record) => record?.slot ?? null));
  for (const slot of await network.slots()) {
    if (slots.has(slot)) continue;
    log.warn({ slot }, 'removing a namespace that belongs to no run directory');
    await network.removeNamespace(slot);
  }
  for (const name of await cgroups.names()) {
    const record = records.get(name);
    // A VM at rest has no slot.
    if (record === undefined || (record !== null && record.slot === null)) await cgroups.remove(name);
  }
  for (const draft of await store.abandonedDrafts()) await rm(draft, { recursive: true, force: true });
  for (const name of await readdir(places.buildsRoot)) {
    await rm(join(places.buildsRoot, name), { recursive: true, force: true });
  }
}

async function orphans(places: LeftoverPlaces, records: ReadonlyMap<string, VmRecord | null>) {
  const socket = new RegExp(`^socket,id=qmp,path=${RegExp.escape(places.vmsRoot)}/([^/]+)/qmp,`);
  const build = `socket,id=qmp,path=${places.buildsRoot}/`;
  const ours = await findProcesses((argument) => socket.test(argument) || argument.startsWith(build));
  return ours.filter(({ argv }) => {
    const agentId = argv.map((argument) => socket.exec(argument)?.[1]).find((id) => id !== undefined);
    return agentId === undefined || !records.has(agentId);
  });
}

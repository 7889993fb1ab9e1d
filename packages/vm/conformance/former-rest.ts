/** Lays an agent's machine at rest out as releases before saved machines left it: in a folder among the VMs. */
import { createHash } from 'node:crypto';
import { link, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { restOf } from '@lodge/ports';
import { readManifest } from '../src/qemu/saved/machine/manifest.ts';

/** `kind`: of a stop, or of an upgrade that is under way. No driver is started. */
export async function layAsFormer(dataDir: string, agentId: string, kind: 'stop' | 'upgrade'): Promise<void> {
  const saved = join(dataDir, 'saved', restOf(agentId));
  const { executionId, templateId, machine, facts, layers, memory, data } = (await readManifest(saved))!;
  const folder = join(dataDir, 'vms', kind === 'stop' ? agentId : `${agentId}.aside`);
  const snapshot = join(folder, 'snapshot');
  await mkdir(snapshot, { recursive: true, mode: 0o700 });
  const disk = join(folder, 'disk.qcow2');
  for (const [index, { name }] of layers.entries())
    await link(join(saved, name), index === 0 ? disk : join(folder, name));
  const { devices, pages, whole: _whole, ...about } = memory!;
  await link(join(saved, pages.file), join(snapshot, 'memory'));
  await link(join(saved, 'devices'), join(snapshot, 'devices'));
  if (data !== undefined) await link(join(saved, 'data'), join(snapshot, 'data'));
  const { size, mtimeNs } = await stat(disk, { bigint: true });
  const { bytes, index, sums } = pages;
  const known = { version: 1, ...about, templateId, machine, facts, disk: `${size}:${mtimeNs}`, devices };
  const json = JSON.stringify({ ...known, pages: { bytes, index, sums } });
  await writeFile(join(snapshot, 'manifest'), `${createHash('sha256').update(json).digest('hex')}\n${json}`);
  const record = { version: 1, agentId, executionId, phase: 'suspended', from: 'clone', base: about.base, machine };
  const rest = { facts: null, templateId, slot: null, address: null, process: null };
  await writeFile(join(folder, 'vm.json'), `${JSON.stringify({ ...record, ...rest })}\n`);
  await rm(saved, { recursive: true });
}

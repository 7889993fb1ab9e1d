/**
 * Makes a template: boots the image's guest with its memory in a file, or lets a template's guest go on over copies of its
 * files. Then it lets the caller prepare the guest, stops it, saves the devices, and ends it. A failure leaves nothing. A
 * kill leaves a draft folder, a namespace and a control group, which the next start of this instance removes; QEMU ends with
 * this process.
 */
import { chown, stat } from 'node:fs/promises';
import { guestClient, noCredential } from '@lodge/guest';
import { keptPace, paceOf } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Image, Log, RuntimeFacts, TemplateBuild } from '@lodge/ports';
import { templateGid } from '../machine/confinement.ts';
import { bootMemoryMib, bootVcpus, maxMemoryMib } from '../machine/command-line.ts';
import { diskBytes, writeOverlay } from '../saved/disks.ts';
import { endOf, launch, withDeath } from '../machine/launch.ts';
import type { LaunchedMachine } from '../machine/launch.ts';
import type { Cgroups } from '../host/cgroup.ts';
import { freeSpace } from '../host/capacity.ts';
import { awaitExit, kill } from '../host/process.ts';
import { copyToWrite } from '../host/take-file.ts';
import type { QemuDriverOptions } from '../options.ts';
import type { ProcessMark } from '../host/process.ts';
import { repoint } from '../saved/backing.ts';
import { RunDirectory } from '../saved/run-directory.ts';
import type { StoredTemplate } from '../saved/template-shelf.ts';
import type { TemplateDraft, TemplateStore } from '../saved/template-store.ts';
import { dialAt } from '../../dial.ts';
import { throwIfAborted } from '../../waiting.ts';
import { freezeGuest, templateFreezeMs } from './vm-guest.ts';
import type { VmHost } from './vm-start.ts';

export interface TemplateWork {
  readonly host: VmHost;
  readonly store: TemplateStore;
  readonly hash: string;
  /** Folder for the control socket of the VM that becomes the template. */
  readonly buildsRoot: string;
  readonly slot: number;
  readonly uid: number;
  readonly build: TemplateBuild;
  readonly from: TemplateToGoOnFrom | null;
  /** QEMU and accelerator in words, for the manifest. */
  readonly madeWith: string;
  readonly log: Log;
}

/** The template is only read. Its files lie in the data folder, so its image need not exist elsewhere. */
export interface TemplateToGoOnFrom extends StoredTemplate {
  readonly rootDisk: string;
  /** The image's disk in the cache that it was made over. */
  readonly madeOver: string;
}

/** Size of every agent's disk, GiB; an image with a larger one keeps its own. */
export const templateDiskGib = 10;
/** Room for a template's disk and devices beside its memory, MiB; those of the agents' images take a tenth of it. */
const diskAndDevicesMib = 1024;

/**
 * Rejects with `disk_full` unless the cache has room for a template, and, if agents' disks share its file system, for the
 * floor beside it.
 */
export async function assertTemplateRoom(
  options: Pick<QemuDriverOptions, 'cacheDir' | 'dataDir' | 'diskFloorMib'>,
): Promise<void> {
  const { cacheDir, dataDir, diskFloorMib } = options;
  const [cache, data] = await Promise.all([stat(cacheDir), stat(dataDir)]);
  const neededMib = bootMemoryMib + diskAndDevicesMib + (cache.dev === data.dev ? diskFloorMib : 0);
  const { freeMib } = await freeSpace(cacheDir);
  if (freeMib >= neededMib) return;
  throw new VmError('disk_full', `a template needs ${neededMib} MiB in ${cacheDir}, and ${freeMib} MiB are free`);
}

/**
 * From the first instruction to the guest's daemon. The host's pace is still unknown; the caller bounds the build as a
 * whole.
 */
const bootTimeoutMs = 30 * 60_000;

export async function buildTemplate(work: TemplateWork, signal: AbortSignal): Promise<StoredTemplate> {
  const { host, store, slot, build, from } = work;
  const group = groupOf(work.hash);
  const draft = await store.draft(work.hash, work.uid);
  const directory = new RunDirectory(work.buildsRoot, work.hash);
  let process: ProcessMark | null = null;
  try {
    await directory.create();
    const bytes = from?.diskBytes ?? Math.max(await diskBytes(build.image.rootDisk), templateDiskGib * 2 ** 30);
    const onProcess = async (mark: ProcessMark): Promise<void> => {
      process = mark;
      if (from) await yieldToOthers(host.cgroups, group, mark);
    };
    const { address, machine } = await startGuest(work, draft, directory, bytes, onProcess, signal);
    const began = performance.now();
    let facts: RuntimeFacts;
    let pace: number;
    try {
      const either = AbortSignal.any([signal, endOf(machine)]);
      build.progress(from ? 'letting the guest go on' : 'booting the guest');
      // The guest is saved without a credential: each of its clones gets its own.
      const booting = { address, dial: dialAt(address), credential: noCredential };
      await guestClient(booting).awaitHealth({ timeoutMs: bootTimeoutMs, signal: either });
      pace = from ? keptPace(from.template.pace) : paceOf(performance.now() - began);
      const guest = { ...booting, pace };
      await guestClient(guest).setClock({ signal: either });
      facts = await build.prepare(guest, either);
      throwIfAborted(either);
      build.progress('saving the template');
      const freeze = { timeoutMs: templateFreezeMs(pace), signal: either, log: work.log };
      await freezeGuest(guestClient(guest), { ...freeze, about: { image: build.image.id } });
      await save(machine, draft);
    } catch (error) {
      throw await withDeath(machine, error);
    } finally {
      machine.witness.expectEnd();
      machine.qmp.close();
    }
    await host.network.removeNamespace(slot);
    const image = imageOf(work);
    const madeOver = from?.madeOver ?? image.rootDisk;
    const { variant } = build;
    const { madeWith } = work;
    const { counterKhz } = work.host;
    const hasBrowser = from?.hasBrowser ?? true;
    const made = { image, madeOver, facts, variant, pace, madeWith, counterKhz, hasBrowser, diskBytes: bytes };
    return await store.commit(draft, made, host.emulator.mapsReadOnly);
  } finally {
    if (process) await kill(process);
    await host.cgroups.remove(group);
    await host.network.removeNamespace(slot);
    await directory.remove();
    await store.discard(draft);
  }
}

/** No agent has such a name. */
const groupOf = (hash: string): string => `template-${hash}`;

async function yieldToOthers(cgroups: Cgroups, group: string, { pid }: ProcessMark): Promise<void> {
  await cgroups.createYielding(group);
  await cgroups.add(group, pid);
}

const imageOf = ({ build, from }: TemplateWork): Image =>
  from ? { id: build.image.id, kernel: from.kernel, initrd: from.initrd, rootDisk: from.rootDisk } : build.image;

async function startGuest(
  work: TemplateWork,
  draft: TemplateDraft,
  directory: RunDirectory,
  bytes: number,
  onProcess: (mark: ProcessMark) => Promise<void>,
  signal: AbortSignal,
): Promise<{ readonly address: string; readonly machine: LaunchedMachine }> {
  const { host, slot, uid, build, from } = work;
  const { accelerator, counterKhz, emulator, network } = host;
  const image = imageOf(work);
  const namespace = await network.createNamespace(slot, { tapOwner: uid, brokerPort: build.brokerPort });
  if (from) await copyFiles(from, draft, uid);
  else await layDisk(draft, image, bytes, uid);
  const machine = await launch(
    {
      directory,
      line: {
        accelerator: accelerator.accelerator,
        counterKhz,
        name: `lodge-${host.instance}-template`,
        kernel: image.kernel,
        initrd: image.initrd,
        disk: draft.files.disk,
        // A template's guest never sees the disk: its clones may.
        browser: (from?.hasBrowser ?? true) ? { file: null } : null,
        memory: { path: draft.files.memory, mode: 'write', readOnly: emulator.mapsReadOnly },
        tap: namespace.tap,
        credentialDigest: null,
        vcpus: bootVcpus,
      },
      confinement: {
        uid,
        groups: [templateGid, ...accelerator.groups.filter((gid) => gid !== templateGid)],
        namespace: namespace.path,
        fileSizeLimit: Math.max(maxMemoryMib * 2 ** 20, bytes * 2),
        dieWithParent: true,
      },
      devices: from?.files.devices ?? null,
      onSpawned: onProcess,
    },
    signal,
  );
  await machine.qmp.execute('cont');
  return { address: namespace.guestAddress, machine };
}

async function layDisk(draft: TemplateDraft, image: Image, bytes: number, uid: number): Promise<void> {
  await writeOverlay({ path: draft.files.disk, backing: image.rootDisk, bytes });
  await chown(draft.files.disk, uid, uid);
}

async function copyFiles({ files, rootDisk }: TemplateToGoOnFrom, draft: TemplateDraft, uid: number): Promise<void> {
  await copyToWrite(files.memory, draft.files.memory, uid);
  await copyToWrite(files.disk, draft.files.disk, uid);
  await repoint(draft.files.disk, rootDisk);
}

/** Stops the guest, writes its devices' state, and waits until QEMU has released disk and memory file. */
async function save({ qmp, process, witness }: LaunchedMachine, draft: TemplateDraft): Promise<void> {
  await qmp.execute('stop');
  await qmp.execute('xen-save-devices-state', { filename: draft.files.devices, live: false });
  witness.expectEnd();
  await qmp.execute('quit');
  await awaitExit(process, 60_000);
}

/**
 * Makes a template: boots the image's guest with its memory in a file, has it prepared, stops it, saves the devices, ends
 * it. What a failure leaves behind: nothing here, and after a kill a draft folder and a namespace, which the next start of
 * this instance takes away; QEMU ends with us.
 */
import { chown, stat } from 'node:fs/promises';
import { guestClient, noCredential } from '@lodge/guest';
import { paceOf } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { RuntimeFacts, TemplateBuild } from '@lodge/ports';
import { templateGid } from '../machine/confinement.ts';
import { bootMemoryMib, bootVcpus, maxMemoryMib } from '../machine/command-line.ts';
import { diskBytes, writeOverlay } from '../saved/disks.ts';
import { endOf, launch, withDeath } from '../machine/launch.ts';
import type { LaunchedMachine } from '../machine/launch.ts';
import { freeSpace } from '../host/disk.ts';
import { awaitExit, kill } from '../host/process.ts';
import type { QemuDriverOptions } from '../options.ts';
import type { ProcessMark } from '../host/process.ts';
import { RunDirectory } from '../saved/run-directory.ts';
import type { StoredTemplate } from '../saved/template-shelf.ts';
import type { TemplateDraft, TemplateStore } from '../saved/template-store.ts';
import { throwIfAborted } from '../../waiting.ts';
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
  /** QEMU and accelerator in words, for the manifest. */
  readonly madeWith: string;
}

/** Size of every agent's disk, GiB; an image with a larger one keeps its own. */
export const templateDiskGib = 10;
/** What a template's disk and devices take beside its memory, MiB; those of the agents' images take a tenth of it. */
const diskAndDevicesMib = 1024;

/** Rejects with `disk_full` unless the cache has room for a template, and the agents' disk the floor beside it where both are one. */
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

/** From the first instruction to the guest's daemon. Nothing is known of the host's pace yet; the build as a whole has its caller's bound. */
const bootTimeoutMs = 30 * 60_000;

export async function buildTemplate(work: TemplateWork, signal: AbortSignal): Promise<StoredTemplate> {
  const { host, store, slot, build } = work;
  const draft = await store.draft(work.hash, work.uid);
  const directory = new RunDirectory(work.buildsRoot, work.hash);
  let process: ProcessMark | null = null;
  try {
    await directory.create();
    const bytes = Math.max(await diskBytes(build.image.rootDisk), templateDiskGib * 2 ** 30);
    const { address, machine } = await bootGuest(work, draft, directory, bytes, (mark) => (process = mark), signal);
    const began = performance.now();
    let facts: RuntimeFacts;
    let pace: number;
    try {
      const either = AbortSignal.any([signal, endOf(machine)]);
      build.progress('booting the guest');
      // It is saved without a credential: each of its clones is given one of its own.
      const booting = { address, credential: noCredential };
      await guestClient(booting).awaitHealth({ timeoutMs: bootTimeoutMs, signal: either });
      pace = paceOf(performance.now() - began);
      const guest = { ...booting, pace };
      await guestClient(guest).setClock({ signal: either });
      facts = await build.prepare(guest, either);
      throwIfAborted(either);
      build.progress('saving the template');
      await save(machine, draft);
    } catch (error) {
      throw await withDeath(machine, error);
    } finally {
      machine.witness.expectEnd();
      machine.qmp.close();
    }
    await host.network.removeNamespace(slot);
    const made = { image: build.image, facts, pace, madeWith: work.madeWith, diskBytes: bytes };
    return await store.commit(draft, made, host.emulator.mapsReadOnly);
  } finally {
    if (process) await kill(process);
    await host.network.removeNamespace(slot);
    await directory.remove();
    await store.discard(draft);
  }
}

async function bootGuest(
  { host, slot, uid, build }: TemplateWork,
  draft: TemplateDraft,
  directory: RunDirectory,
  bytes: number,
  onProcess: (mark: ProcessMark) => void,
  signal: AbortSignal,
): Promise<{ readonly address: string; readonly machine: LaunchedMachine }> {
  const { accelerator, emulator, network } = host;
  const namespace = await network.createNamespace(slot, { tapOwner: uid, brokerPort: build.brokerPort });
  await writeOverlay({ path: draft.files.disk, backing: build.image.rootDisk, bytes });
  await chown(draft.files.disk, uid, uid);
  const machine = await launch(
    {
      directory,
      line: {
        accelerator: accelerator.accelerator,
        name: `lodge-${host.instance}-template`,
        kernel: build.image.kernel,
        initrd: build.image.initrd,
        disk: draft.files.disk,
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
      devices: null,
      onSpawned: async (mark) => onProcess(mark),
    },
    signal,
  );
  await machine.qmp.execute('cont');
  return { address: namespace.guestAddress, machine };
}

/** Stops the guest, writes what its devices hold, and waits until QEMU has let go of disk and memory file. */
async function save({ qmp, process, witness }: LaunchedMachine, draft: TemplateDraft): Promise<void> {
  await qmp.execute('stop');
  await qmp.execute('xen-save-devices-state', { filename: draft.files.devices, live: false });
  witness.expectEnd();
  await qmp.execute('quit');
  await awaitExit(process, 60_000);
}

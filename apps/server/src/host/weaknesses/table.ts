/**
 * Every weakness that a host's configuration can have: one entry a check. `npm run doctor` shows all of them, a start logs
 * the weak ones. A new check is a new entry in one of the lists.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Log } from '@lodge/ports';
import { expectedAccelerator, inspectEmulator } from '@lodge/vm';
import type { Config } from '../../config/config.ts';
import { found } from '../finding.ts';
import type { Finding } from '../finding.ts';
import { mostVms } from '../machines.ts';
import type { Check, HostFacts } from './check.ts';
import { machineChecks } from './machine.ts';
import { networkChecks } from './network.ts';
import { serviceChecks } from './service.ts';
import { storageChecks } from './storage.ts';
import { webChecks } from './web.ts';

const checks: readonly Check[] = [...webChecks, ...machineChecks, ...networkChecks, ...storageChecks, ...serviceChecks];

/** All findings, in the order of the table. */
export const lookAtHost = (facts: HostFacts): Promise<Finding[]> =>
  Promise.all(checks.map(({ name, look }) => found(name, () => look(facts, name))));

/** `people` has the meaning of `HostFacts`. */
export async function hostFacts(config: Config, people: number | null): Promise<HostFacts> {
  const [emulator, clockIsSet] = await Promise.all([inspectEmulator().catch(() => null), askClock()]);
  const { accelerator: setting, cacheDir } = config;
  const accelerator = await expectedAccelerator({ setting, cacheDir, emulatorVersion: emulator?.version ?? '' });
  return { config, root: '/', people, emulator, accelerator, guests: mostVms(config), clockIsSet };
}

async function askClock(): Promise<boolean | null> {
  const asked = promisify(execFile)('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    timeout: 5_000,
  });
  const answer = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return answer === 'yes' ? true : answer === 'no' ? false : null;
}

/** Logs each weakness with its own line, and returns them. Never rejects. */
export async function reportWeaknesses(
  config: Config,
  countPeople: () => Promise<number>,
  log: Log,
): Promise<readonly Finding[]> {
  try {
    const people = await countPeople().catch(() => null);
    const findings = await lookAtHost(await hostFacts(config, people));
    const weak = findings.filter(({ state }) => state === 'warn' || state === 'fail');
    for (const { name, detail, advice } of weak) log.warn({ check: name, advice }, `${name}: ${detail}`);
    return weak;
  } catch (error) {
    log.warn({ err: error }, 'the weaknesses of this host could not be looked at');
    return [];
  }
}

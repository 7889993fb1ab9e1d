/** The parts of the test run, and what is known of the files that take long. */
import { isLongRun } from '@lodge/testkit/forms';

export interface Part {
  readonly name: string;
  readonly files: readonly string[];
  /** Those of them that another part has. */
  readonly except?: readonly string[];
  /** It runs where it is asked for by name, and in `npm run test:long`. */
  readonly isLong?: true;
  /** Its agents are real ones, which need a template each. */
  readonly templates?: true;
  /** Bounds on one file and on the whole part, in ms. */
  readonly fileTimeoutMs: number;
  readonly timeoutMs: number;
}

const minuteMs = isLongRun ? 8 * 60_000 : 60_000;
// Parts run beside one another, so the last file of each comes near the end of all: this ends a run that hangs, on a slow host too.
const wholeMs = 80 * minuteMs;
const light = { fileTimeoutMs: 10 * minuteMs, timeoutMs: wholeMs };
const machines = { fileTimeoutMs: 30 * minuteMs, timeoutMs: wholeMs };

const attacksOnTheApi = 'tests/security/api.test.ts';
const realPort = 'tests/e2e/published-port.test.ts';
const fakeDriver = 'packages/vm/conformance/fake.test.ts';
const runtimes = 'packages/runtimes/conformance/**/*.test.ts';

export const parts: readonly Part[] = [
  { name: 'web', files: ['tests/web/**/*.test.ts'], ...light },
  { name: 'api', files: ['tests/e2e/**/*.test.ts', attacksOnTheApi], except: [realPort], ...light },
  {
    name: 'unit',
    files: ['packages/!(vm)/**/*.test.ts', fakeDriver, 'apps/**/*.test.ts', 'scripts/**/*.test.ts'],
    except: [runtimes],
    ...light,
  },
  { name: 'images', files: ['images/**/*.test.ts'], ...machines },
  { name: 'machines', files: ['packages/vm/**/*.test.ts'], except: [fakeDriver], ...machines },
  { name: 'runtimes', files: [runtimes], templates: true, ...machines },
  { name: 'failure', files: ['tests/failure/**/*.test.ts', realPort], ...machines },
  { name: 'security', files: ['tests/security/**/*.test.ts'], except: [attacksOnTheApi], ...machines },
  { name: 'long', files: ['tests/long/**/*.test.ts'], isLong: true, ...light },
];

/** Files of `npm run test:long`: those whose tests have a long form, and those that have no short one. */
export const longForms: readonly string[] = [
  'tests/long',
  'tests/e2e/contract/fuzz.test.ts',
  'tests/failure/channels-storm.test.ts',
  'tests/failure/faults.test.ts',
  'tests/failure/hooks-storm.test.ts',
  'tests/failure/kill.test.ts',
  'tests/failure/life.test.ts',
  'tests/failure/metering.test.ts',
  'tests/failure/release.test.ts',
  'tests/failure/schedules-storm.test.ts',
  'tests/failure/two-servers.test.ts',
  'tests/failure/webhooks-storm.test.ts',
  'packages/runtimes/conformance/hermes.test.ts',
  'packages/runtimes/conformance/openclaw-lives.test.ts',
  'packages/vm/conformance/qemu-beside.test.ts',
  'packages/vm/conformance/qemu-life.test.ts',
  'packages/vm/conformance/qemu.test.ts',
  'tests/security/hostile/hostile.test.ts',
];

export interface Cost {
  /** How long the file takes on two cores without KVM. */
  readonly seconds: number;
  /** How much of a core it keeps busy meanwhile. */
  readonly cores: number;
}

/** Measured; see docs/contributing/tests.md for how. A file that is not here is a short one. */
const costs: Readonly<Record<string, Cost>> = {
  // What they measure, or wait for, is the whole machine's.
  'tests/security/hostile/hostile.test.ts': { seconds: 140, cores: 2 },
  'tests/failure/disk.test.ts': { seconds: 100, cores: 2 },
  'packages/runtimes/conformance/openclaw-lives.test.ts': { seconds: 420, cores: 0.8 },
  'packages/runtimes/conformance/openclaw-talks.test.ts': { seconds: 600, cores: 0.8 },
  'packages/runtimes/conformance/hermes.test.ts': { seconds: 700, cores: 0.8 },
  'packages/vm/conformance/qemu.test.ts': { seconds: 400, cores: 0.8 },
  'tests/failure/faults.test.ts': { seconds: 200, cores: 0.8 },
  'tests/failure/deaths.test.ts': { seconds: 400, cores: 0.8 },
  'packages/vm/conformance/qemu-deaths.test.ts': { seconds: 150, cores: 0.8 },
  'tests/web/account.test.ts': { seconds: 150, cores: 0.4 },
  'tests/failure/kill.test.ts': { seconds: 150, cores: 0.6 },
  'packages/vm/conformance/qemu-cache.test.ts': { seconds: 110, cores: 0.8 },
  'tests/failure/cache.test.ts': { seconds: 100, cores: 0.8 },
  'images/src/boot.test.ts': { seconds: 100, cores: 0.8 },
  'tests/failure/upgrade.test.ts': { seconds: 100, cores: 0.8 },
  'tests/failure/runtimes.test.ts': { seconds: 120, cores: 0.8 },
  'tests/failure/life.test.ts': { seconds: 90, cores: 0.6 },
  'tests/failure/two-servers.test.ts': { seconds: 90, cores: 0.8 },
  'packages/vm/conformance/qemu-vm.test.ts': { seconds: 80, cores: 0.8 },
  'packages/vm/conformance/fake.test.ts': { seconds: 80, cores: 0.1 },
  'tests/security/hostile/strangers.test.ts': { seconds: 90, cores: 0.5 },
  'tests/security/privileges.test.ts': { seconds: 100, cores: 0.5 },
  'tests/failure/backup.test.ts': { seconds: 200, cores: 0.8 },
  'tests/failure/release.test.ts': { seconds: 60, cores: 0.8 },
  'tests/failure/down.test.ts': { seconds: 60, cores: 0.8 },
  'tests/security/egress-of-guest.test.ts': { seconds: 80, cores: 0.5 },
  'tests/failure/channels.test.ts': { seconds: 60, cores: 0.2 },
  'tests/security/keys.test.ts': { seconds: 100, cores: 0.6 },
  'tests/security/guest.test.ts': { seconds: 90, cores: 0.5 },
  'tests/security/reachability.test.ts': { seconds: 60, cores: 0.2 },
  'tests/e2e/limits.test.ts': { seconds: 50, cores: 0.2 },
  'packages/vm/conformance/qemu-beside.test.ts': { seconds: 120, cores: 0.8 },
  'packages/vm/conformance/qemu-life.test.ts': { seconds: 160, cores: 0.9 },
  'packages/vm/conformance/qemu-remote.test.ts': { seconds: 30, cores: 0.8 },
  'packages/engine/src/accounts/guessing.test.ts': { seconds: 40, cores: 0.4 },
  'packages/access/src/rotate.test.ts': { seconds: 40, cores: 0.4 },
  'tests/failure/schedules-storm.test.ts': { seconds: 30, cores: 0.6 },
  'tests/failure/hooks-storm.test.ts': { seconds: 30, cores: 0.6 },
  'tests/e2e/contract/fuzz.test.ts': { seconds: 30, cores: 0.5 },
};
const short: Cost = { seconds: 3, cores: 0.4 };

export function costOf(file: string): Cost {
  return costs[file] ?? short;
}

/** The parts of the tests and the stages that run them. */
import { isLongRun } from '@lodge/testkit/forms';

/**
 * `quick` and `rounds` are `npm test`, `rest` is everything else of `npm run test:all`, and `long` runs where it is asked for.
 * Files of `quick` need no root and no virtual machine.
 */
export const stages = ['quick', 'rounds', 'rest', 'long'] as const;
export type Stage = (typeof stages)[number];

export interface Part {
  readonly name: string;
  readonly stage: Stage;
  readonly files: readonly string[];
  /** Another part has these of them. */
  readonly except?: readonly string[];
  /**
   * Its agents are real ones, which need a template each. The early one of the runtime in the file's name suffices for `early`;
   * `warm` are those of all runtimes.
   */
  readonly templates?: 'early' | 'warm';
  /** Each of its files boots a machine or a browser, and wants at least so much of a core. A busy host understates that. */
  readonly cores?: number;
  /** Bounds on one file and on the whole part, in ms. */
  readonly fileTimeoutMs: number;
  readonly timeoutMs: number;
}

const minuteMs = isLongRun ? 8 * 60_000 : 60_000;
// Parts run beside one another, so the last file of each comes near the end of all: this ends a run that hangs, on a slow host too.
const wholeMs = 80 * minuteMs;
const light = { fileTimeoutMs: 10 * minuteMs, timeoutMs: wholeMs };
const machines = { cores: 0.6, fileTimeoutMs: 30 * minuteMs, timeoutMs: wholeMs } as const;

const attacksOnTheApi = 'tests/security/api.test.ts';
const realPort = 'tests/e2e/published-port.test.ts';
const fakeDriver = 'packages/vm/conformance/fake.test.ts';
const rounds = 'packages/runtimes/conformance/*-round.test.ts';
const runtimes = 'packages/runtimes/conformance/**/*.test.ts';

/** These need no virtual machine either, but they need root, or they take longer than somebody who has just cloned should wait. */
const thorough: readonly string[] = [
  'apps/server/src/cli/{accounts,runtimes/runtimes}.test.ts',
  'apps/server/src/host/weaknesses/table.test.ts',
  'packages/{connections/src,engine/src/accounts}/guessing.test.ts',
  'packages/store/src/embedded/embedded-postgres.test.ts',
  'tests/e2e/{connection-renewal,files,limits}.test.ts',
  'tests/e2e/contract/{boundaries,examples,fuzz}.test.ts',
  'tests/hands/killed.test.ts',
  'tests/hands/packed/cli.test.ts',
  'tests/hands/programs/programs.test.ts',
  'tests/hands/python.test.ts',
  'tests/hands/round.test.ts',
  'tests/hands/snippets/snippets.test.ts',
  'tests/web/{account,documents}.test.ts',
];

/** Page by page in every state, with hostile texts. They take five minutes of a processor: too much for each change. */
const pages: readonly string[] = ['tests/web/{account-pages,agents,machine,outside,talk,troubles}.test.ts'];

export const parts: readonly Part[] = [
  {
    name: 'web',
    stage: 'quick',
    files: ['tests/web/**/*.test.ts'],
    except: [...pages, ...thorough],
    cores: 1,
    ...light,
  },
  {
    name: 'api',
    stage: 'quick',
    files: ['tests/e2e/**/*.test.ts', 'tests/hands/**/*.test.ts', attacksOnTheApi],
    except: [realPort, ...thorough],
    ...light,
  },
  { name: 'store', stage: 'quick', files: ['packages/store/**/*.test.ts'], except: thorough, ...light },
  {
    name: 'unit',
    stage: 'quick',
    files: ['packages/!(vm|store)/**/*.test.ts', fakeDriver, 'apps/**/*.test.ts', 'scripts/**/*.test.ts'],
    except: [runtimes, ...thorough],
    ...light,
  },
  { name: 'rounds', stage: 'rounds', files: [rounds], templates: 'early', ...machines },
  { name: 'thorough', stage: 'rest', files: thorough, ...light },
  { name: 'images', stage: 'rest', files: ['images/**/*.test.ts'], ...machines },
  { name: 'machines', stage: 'rest', files: ['packages/vm/**/*.test.ts'], except: [fakeDriver], ...machines },
  { name: 'runtimes', stage: 'rest', files: [runtimes], except: [rounds], templates: 'warm', ...machines },
  { name: 'failure', stage: 'rest', files: ['tests/failure/**/*.test.ts', realPort], ...machines },
  { name: 'security', stage: 'rest', files: ['tests/security/**/*.test.ts'], except: [attacksOnTheApi], ...machines },
  { name: 'pages', stage: 'long', files: pages, cores: 1, ...light },
  { name: 'long', stage: 'long', files: ['tests/long/**/*.test.ts'], ...light },
];

/** These assert how long requests of others take, so nothing runs beside them, and they come last. */
export const alone: readonly string[] = ['tests/security/hostile/hostile.test.ts'];

/** Files of `npm run test:long`: those whose tests have a long form, and those that have no short one. */
export const longForms: readonly string[] = [
  'tests/long',
  'tests/web',
  'tests/hands/cli/faults.test.ts',
  'tests/hands/killed.test.ts',
  'tests/hands/packed/cli.test.ts',
  'tests/hands/packed/sdk.test.ts',
  'tests/hands/python.test.ts',
  'tests/e2e/contract/fuzz.test.ts',
  'tests/failure/channels-storm.test.ts',
  'tests/failure/disk.test.ts',
  'tests/failure/faults.test.ts',
  'tests/failure/hooks-storm.test.ts',
  'tests/failure/kill.test.ts',
  'tests/failure/life.test.ts',
  'tests/failure/metering.test.ts',
  'tests/failure/packages.test.ts',
  'tests/failure/release.test.ts',
  'tests/failure/schedules-storm.test.ts',
  'tests/failure/two-servers.test.ts',
  'tests/failure/webhooks-storm.test.ts',
  'packages/channels/conformance/storm.test.ts',
  'packages/runtimes/conformance/browser.test.ts',
  'packages/runtimes/conformance/hands.test.ts',
  'packages/runtimes/conformance/hermes.test.ts',
  'packages/runtimes/conformance/openclaw.test.ts',
  'packages/vm/conformance/qemu-beside.test.ts',
  'packages/vm/conformance/qemu-deaths.test.ts',
  'packages/vm/conformance/qemu-life.test.ts',
  'packages/vm/conformance/qemu-saved-deaths.test.ts',
  'packages/vm/conformance/qemu-vm.test.ts',
  'packages/vm/conformance/qemu.test.ts',
  'tests/security/hostile/hostile.test.ts',
  'tests/security/hostile/strangers.test.ts',
];

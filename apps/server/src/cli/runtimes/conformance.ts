/**
 * Runs the runtimes' conformance suite against one version, in a separate process and Lodge, with real machines. The suite
 * ends with this process, and the Lodge with the suite, in every case; after a kill -9 of this process it ends by itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InstalledVersions } from '@lodge/images';
import type { Verdict } from '@lodge/images';
import { CommandError } from '../command.ts';
import type { Known, Runtimes } from './deployment.ts';

/** The suite bounds each of its steps; this is for one that hangs nevertheless. */
const suiteTimeoutMs = 4 * 60 * 60_000;
const maxLogBytes = 64 * 2 ** 20;
const maxReasonChars = 300;
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The files of a runtime's suite, by its name. */
const suiteOf = (name: string): readonly string[] => [`${name}-round.test.ts`, `${name}.test.ts`];

/** The settings of this deployment that a test Lodge needs: where images are, and how its machines run. */
const kept = ['LODGE_CACHE_DIR', 'LODGE_ACCELERATOR', 'LODGE_SYSTEM_USER', 'LODGE_CONTROL_USER', 'LODGE_DNS'];

/** Null when every case has passed; else the first failed one. */
export async function runConformance(
  { installed, config, env }: Runtimes,
  { runtime }: Known,
  version: string,
  image: string,
): Promise<Verdict['failure']> {
  const { name, templateVariant: variant } = runtime;
  const checkout = new URL('../../../../../', import.meta.url).pathname;
  const scratch = await mkdtemp(join(installed.folder, '.testing-'));
  try {
    // A folder in which this version has passed already: the Lodge that tests it gives it to its agents.
    const tried = new InstalledVersions(scratch);
    await cp(installed.recipeOf(name, version), tried.recipeOf(name, version), { recursive: true });
    await tried.writeVerdict(name, version, { image, variant, passed: true, failure: null, at: '' });
    await tried.writeOffer(name, { fresh: version, upgrade: version });
    const files = suiteOf(name).map((file) => join(checkout, 'packages/runtimes/conformance', file));
    const settings = {
      ...ownEnvironment(env),
      LODGE_CACHE_DIR: config.cacheDir,
      CONFORMANCE_INSTALLED: scratch,
      CONFORMANCE_VERSION: version,
    };
    return await runTests({ files, cwd: checkout, env: settings, log: installed.logOf(name, version) });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function ownEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean => name.startsWith('LODGE_') || name === 'DATABASE_URL';
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name) || kept.includes(name)));
}

export interface TestRun {
  readonly files: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives the tests' output. */
  readonly log: string;
}

/** Runs files of node:test, one after another. Null when all tests passed and there were some. */
export async function runTests({ files, cwd, env, log }: TestRun): Promise<Verdict['failure']> {
  const status = await writeTests({ files, cwd, env, log });
  const written = await readFile(log);
  if (written.length > maxLogBytes) throw new CommandError(`${log} is longer than any suite's: look at it.`);
  const text = written.toString();
  const failing = firstFailing(text);
  if (failing !== null) return { step: 'conformance', ...failing };
  if (status === 0 && /^# pass [1-9]/m.test(text) && !files.some((file) => isSilent(file, text))) return null;
  return { step: 'conformance', case: null, reason: `the tests ended with status ${status} and named no failing case` };
}

/** A file whose process ended before its first test counts as one test, by its own name. */
const isSilent = (file: string, tap: string): boolean =>
  tap.split('\n').some((line) => /^ok \d+ - /.test(line) && line.endsWith(basename(file)));

async function writeTests({ files, cwd, env, log }: TestRun): Promise<number | string | null> {
  await using output = await open(log, 'w', 0o644);
  const argv = ['--test', '--test-reporter=tap', '--test-concurrency=1', ...files];
  const child = spawn(process.execPath, argv, { cwd, env, stdio: ['ignore', output.fd, output.fd] });
  const end = (): void => void child.kill('SIGTERM');
  const timer = setTimeout(end, suiteTimeoutMs);
  const pass = (signal: NodeJS.Signals): void => {
    end();
    // The handler is gone by now, so the process ends as it would have.
    process.kill(process.pid, signal);
  };
  for (const signal of endings) process.once(signal, pass);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return code ?? signal;
  } finally {
    clearTimeout(timer);
    for (const signal of endings) process.off(signal, pass);
  }
}

/** The first failed test of TAP output (https://testanything.org); a case comes before its group. */
export function firstFailing(tap: string): { readonly case: string; readonly reason: string } | null {
  const lines = tap.split('\n');
  const at = lines.findIndex((line) => /^ *not ok \d+ - /.test(line) && !/ # (?:TODO|SKIP)/.test(line));
  if (at === -1) return null;
  const name = lines[at]!.slice(lines[at]!.indexOf(' - ') + 3);
  const error = lines.findIndex((line, index) => index > at && /^ *error: /.test(line));
  const first = error === -1 ? '' : lines[error]!.trim().slice('error: '.length);
  const words = first === '|-' ? (lines[error + 1] ?? '').trim() : first.replace(/^'|'$/g, '');
  return { case: name, reason: words.slice(0, maxReasonChars) || 'it said nothing' };
}

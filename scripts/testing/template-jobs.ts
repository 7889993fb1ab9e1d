/** Makes templates that the cache lacks, beside the files that need none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { availableParallelism } from 'node:os';
import type { Part } from './parts.ts';
import type { Job } from './pool.ts';

const node = process.argv[0]!;

export class TemplateJobs {
  readonly #jobs = new Map<string, Job>();
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  get all(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  /** Returns the jobs that a file of the part waits for. */
  before({ templates }: Part, file: string): readonly Job[] {
    if (templates === undefined) return [];
    if (templates === 'warm') return [this.#job('warm', [], this.all)];
    const runtime = basename(file).split('-')[0]!;
    return [this.#job(`early ${runtime}`, ['--early', runtime], this.all)];
  }

  /** One is made after the other: two at once end no sooner, and the first one later. */
  #job(name: string, options: readonly string[], after: readonly Job[]): Job {
    const known = this.#jobs.get(name);
    if (known) return known;
    // Files that wait for it are the longest, so it comes first.
    const cost = { seconds: Infinity, cores: 0.8 * availableParallelism() };
    const job: Job = { cost, after, run: () => this.#make(name, options) };
    this.#jobs.set(name, job);
    return job;
  }

  /** A failure shows in the tests that need the template. */
  async #make(name: string, options: readonly string[]): Promise<void> {
    const started = performance.now();
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(node, ['scripts/make-templates.ts', ...options], { stdio: [...stdio] });
    child.stdout.on('data', (text: Buffer) => this.#say(String(text)));
    const [code] = await once(child, 'exit');
    const took = ((performance.now() - started) / 1000).toFixed(1);
    this.#say(`── templates, ${name}: ${code === 0 ? 'ready' : 'FAILED'} after ${took} s\n`);
  }
}

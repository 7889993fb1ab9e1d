import { test } from 'node:test';
import { isLongRun } from '@lodge/testkit/forms';
import type { Subject } from './subjects.ts';
import { isInstalled } from './world.ts';
import type { Tested } from './world.ts';

/** Whether every case runs: in the long form, and in the trial of a new version of a runtime. */
export const isWhole = isLongRun || isInstalled;

type Declare = (name: string, run: (agent: Tested) => Promise<void>) => void;

/** Outcomes of the cases, printed at the end. */
export class Results {
  private readonly cases = new Map<string, string>();

  /** A test whose outcome is a line of the table. */
  case(name: string, run: () => Promise<void>): void {
    this.cases.set(name, 'not run');
    void test(name, async () => {
      const startedAt = performance.now();
      try {
        await run();
        this.cases.set(name, `${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      } catch (error) {
        this.cases.set(name, 'FAILED');
        throw error;
      }
    });
  }

  /** `further` declares a case that tests of other rooms, or the round, prove as well. It runs where every case does. */
  of(agent: () => Tested): { readonly check: Declare; readonly further: Declare } {
    const check: Declare = (name, run) => this.case(name, () => run(agent()));
    return { check, further: isWhole ? check : () => undefined };
  }

  table(subject: Subject): string {
    const line = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const rows = [...this.cases].map(([name, outcome]) => line(name, outcome));
    return [line('case', subject.name), line('---', '---'), ...rows].join('\n');
  }
}

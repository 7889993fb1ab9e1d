import { test } from 'node:test';
import type { Subject } from './subjects.ts';

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

  table(subject: Subject): string {
    const line = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const rows = [...this.cases].map(([name, outcome]) => line(name, outcome));
    return [line('case', subject.name), line('---', '---'), ...rows].join('\n');
  }
}

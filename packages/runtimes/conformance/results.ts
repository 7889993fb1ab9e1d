import { test } from 'node:test';
import type { Subject } from './subjects.ts';

/** What became of each case, by runtime; printed when all is over. */
export class Results {
  private readonly cases = new Map<string, Map<string, string>>();

  /** A test whose outcome is a cell of the table. */
  case(subject: Subject, name: string, run: () => Promise<void>): void {
    const row = this.cases.get(name) ?? new Map<string, string>();
    this.cases.set(name, row);
    row.set(subject.name, 'not run');
    void test(name, async () => {
      const startedAt = performance.now();
      try {
        await run();
        row.set(subject.name, `${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      } catch (error) {
        row.set(subject.name, 'FAILED');
        throw error;
      }
    });
  }

  table(subjects: readonly Subject[]): string {
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const names = subjects.map(({ name }) => name);
    const rows = [...this.cases].map(([name, row]) => line([name, ...names.map((runtime) => row.get(runtime) ?? '-')]));
    return [line(['case', ...names]), line(['---', ...names.map(() => '---')]), ...rows].join('\n');
  }
}

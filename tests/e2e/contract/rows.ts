/** Cases of the suite, counted by the section or table they stand for. */
import { after, test } from 'node:test';

const counts = new Map<string, number>();

/** One case of a section of the specification, or of a row of a table of the contract. */
export function row(section: string, title: string, work: () => Promise<void>): void {
  counts.set(section, (counts.get(section) ?? 0) + 1);
  test(`${section}: ${title}`, work);
}

/** Prints how many cases each section has, when all have run. */
export function printCounts(suite: string): void {
  after(() => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    console.log(`${suite}: ${total} cases`);
    for (const [section, count] of counts) console.log(`  ${section}: ${count}`);
  });
}

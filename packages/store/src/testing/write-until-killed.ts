/* oxlint-disable no-restricted-imports -- a test runs this file */
/** A process that writes at random over the database of its argument, eight at once, until it is killed. */
import { randomInt } from 'node:crypto';
import { silent } from './fixture.ts';
import { writeAtRandom } from './random-writes.ts';
import { openTestStore } from './agents-fixture.ts';

const [, , connectionString, accountId] = process.argv;
const store = await openTestStore({ connectionString: connectionString!, log: silent });
console.log('writing');
await Promise.all(Array.from({ length: 8 }, () => writeAtRandom(store, accountId!, randomInt, () => true)));

import { Type } from 'typebox';
import { patterns } from '../text.ts';

/** The id of a snapshot in a body. One that is none of the account's is a 404. */
export const SnapshotIdInput = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: patterns.text,
  examples: ['s4k8m2q9t1ab'],
});

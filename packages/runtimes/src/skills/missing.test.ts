import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { ExecRequest } from '@lodge/guest';
import type { SkillRequires } from '@lodge/domain';
import { missingIn } from './missing.ts';

const never = new AbortController().signal;
const needing = (requires: SkillRequires) => ({ name: 'x', digest: 'x', members: null, requires });

/** Runs commands here, with the environment that an agent has. */
function guestWith(env: Readonly<Record<string, string>>) {
  const asked: (readonly string[])[] = [];
  const exec = async ({ argv: [program, ...args] }: ExecRequest) => {
    asked.push(args);
    const stdout = execFileSync(program!, args, { env: { PATH: process.env['PATH'], ...env } }).toString();
    return { exitCode: 0, signal: null, stdout, stderr: '', timedOut: false, truncated: false };
  };
  return { asked, pace: 1, exec };
}

test('each thing that a skill needs is looked for once, as commands find it', async () => {
  const guest = guestWith({ SET: 'x', EMPTY: '' });
  const some = { programs: ['sh', 'no-such-program'], variables: ['SET', 'EMPTY', 'UNSET'] };
  const others = { programs: ['no-such-program'], variables: [] };
  const missing = await missingIn(guest, [needing(some), needing(others)], never);
  assert.deepEqual(missing(some), { programs: ['no-such-program'], variables: ['EMPTY', 'UNSET'] });
  assert.deepEqual(missing(others), { programs: ['no-such-program'], variables: [] });
  assert.equal(guest.asked.length, 1);
});

test('skills that need nothing cost no call', async () => {
  const nothing = { programs: [], variables: [] };
  const guest = guestWith({});
  assert.deepEqual((await missingIn(guest, [needing(nothing)], never))(nothing), nothing);
  assert.deepEqual(guest.asked, []);
});

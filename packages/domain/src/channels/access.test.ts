/** Tests who is admitted, and that nobody else is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideAccess, defaultAccess, maySpeakIn } from './access.ts';
import type { Approach, ChannelAccess } from './access.ts';

const direct: Approach = {
  kind: 'direct',
  senderId: 'U1',
  conversationId: 'D1',
  isBot: false,
  addressed: true,
  standing: 'unknown',
  lastHour: 0,
};
const inGroup: Approach = { ...direct, kind: 'group', conversationId: 'C1/17.5' };
const access = (change: Partial<ChannelAccess>): ChannelAccess => ({ ...defaultAccess, ...change });
const to = (given: ChannelAccess, approach: Approach): string => {
  const decision = decideAccess(given, approach);
  return decision.to === 'refuse' ? decision.reason : decision.to;
};

test('an unknown sender is asked to pair; one that is approved or named passes', () => {
  assert.equal(to(defaultAccess, direct), 'pair');
  assert.equal(to(defaultAccess, { ...direct, standing: 'approved' }), 'pass');
  assert.equal(to(access({ allowFrom: ['U1'] }), direct), 'pass');
  assert.equal(to(defaultAccess, { ...direct, standing: 'denied' }), 'denied');
});

test('modes: an allow list refuses others, open lets all in, disabled nobody', () => {
  assert.equal(to(access({ mode: 'allowlist' }), direct), 'not_allowed');
  assert.equal(to(access({ mode: 'open' }), direct), 'pass');
  assert.equal(to(access({ mode: 'disabled' }), { ...direct, standing: 'approved' }), 'not_allowed');
});

test('a bot is never answered, whatever is allowed', () => {
  assert.equal(to(access({ mode: 'open', allowFrom: ['U1'] }), { ...direct, isBot: true }), 'ignore');
});

test('in a group only what addresses the agent counts, unless the owner wants all', () => {
  const open = { mode: 'open', allow: [], requireMention: true } as const;
  assert.equal(to(access({ groups: open }), { ...inGroup, addressed: false }), 'ignore');
  assert.equal(to(access({ groups: { ...open, requireMention: false } }), { ...inGroup, addressed: false }), 'pass');
});

test('a group is let in by its id, with its threads, and no other whose id begins alike', () => {
  const groups = { mode: 'allowlist', allow: ['C1'], requireMention: true } as const;
  assert.equal(to(access({ groups }), inGroup), 'pass');
  assert.equal(to(access({ groups }), { ...inGroup, conversationId: 'C1' }), 'pass');
  assert.equal(to(access({ groups }), { ...inGroup, conversationId: 'C12' }), 'not_allowed');
  assert.equal(to(access({ groups: { ...groups, mode: 'disabled' } }), inGroup), 'not_allowed');
});

test('nobody in a group is asked to pair: everybody there would read the code', () => {
  assert.equal(to(defaultAccess, inGroup), 'not_allowed');
});

test('one sender has so many turns an hour', () => {
  const open = access({ mode: 'open', perSenderHourly: 3 });
  assert.equal(to(open, { ...direct, lastHour: 2 }), 'pass');
  assert.equal(to(open, { ...direct, lastHour: 3 }), 'sender_limit');
});

test('the agent speaks unasked only where whoever is there could write to it now', () => {
  const there = (given: Partial<Approach> = {}) => ({ ...direct, ...given });
  assert.equal(maySpeakIn(defaultAccess, there({ standing: 'approved' })), true);
  assert.equal(maySpeakIn(defaultAccess, there()), false, 'who was not approved is not spoken to');
  assert.equal(maySpeakIn(access({ mode: 'open' }), there()), true);
  assert.equal(maySpeakIn(access({ mode: 'open' }), there({ standing: 'denied' })), false);
  assert.equal(maySpeakIn(access({ mode: 'disabled' }), there({ standing: 'approved' })), false);
  assert.equal(maySpeakIn(access({ mode: 'allowlist', allowFrom: ['U1'] }), there()), true);
  assert.equal(maySpeakIn(access({ mode: 'allowlist', allowFrom: ['U1'] }), { ...there(), senderId: null }), false);
  const group = access({ groups: { mode: 'allowlist', allow: ['C1'], requireMention: true } });
  assert.equal(maySpeakIn(group, there({ ...inGroup, standing: 'denied' })), true, 'the group is let in by its id');
  assert.equal(maySpeakIn(group, there({ ...inGroup, conversationId: 'C2' })), false);
  assert.equal(maySpeakIn(access({ groups: { ...group.groups, mode: 'disabled' } }), there(inGroup)), false);
});

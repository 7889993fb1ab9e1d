import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApprovalItems, approvalOf, approvalRequest } from './approvals.ts';

const item = (id: string) => approvalRequest({ id, on: 'tool:x', target: 'x', action: 'Use x.', quoted: null });

test('items of calls that wait have places of their own among those of the gateway, in the stream and in the whole', () => {
  const items = new ApprovalItems();
  assert.deepEqual(items.within(['a', 'b']), ['a', 'b']);
  const [one, two, three] = [item('1'), item('2'), item('3')];
  const places = [
    items.placeOf(0),
    items.add(one),
    items.placeOf(0),
    items.placeOf(1),
    items.add(two),
    items.add(three),
  ];
  assert.deepEqual(places, [0, 1, 0, 2, 3, 4]);
  assert.deepEqual([items.placeOf(1), items.placeOf(2)], [2, 5]);
  assert.deepEqual(items.within(['a', 'b', 'c']), ['a', one, 'b', two, three, 'c']);
  assert.deepEqual(items.within([]), [one, two, three], 'none is lost with items that the gateway does not repeat');
});

test('a decision is read whole, or refused by its field', () => {
  const type = 'mcp_approval_response';
  assert.deepEqual(approvalOf({ type, approval_request_id: 'c1', approve: true }, 0), {
    id: 'c1',
    isAllowed: true,
    words: null,
  });
  assert.deepEqual(approvalOf({ type, approval_request_id: 'c1', approve: false, reason: 'No.' }, 0)?.words, 'No.');
  assert.equal(approvalOf({ type: 'message', approve: true }, 0), null);
  const wrong = [
    [{ type, approve: true }, /^input\[2\]\.approval_request_id/],
    [{ type, approval_request_id: 'x'.repeat(101), approve: true }, /approval_request_id/],
    [{ type, approval_request_id: 'c1', approve: 'yes' }, /^input\[2\]\.approve/],
    [{ type, approval_request_id: 'c1', approve: true, reason: 'x'.repeat(1_001) }, /^input\[2\]\.reason/],
  ] as const;
  for (const [given, message] of wrong) assert.throws(() => approvalOf(given, 2), { code: 'invalid_request', message });
});

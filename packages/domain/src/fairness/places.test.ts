import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from './places.ts';

test('a name takes its share, all names together no more than there are, and what is given back can be taken again', () => {
  const places = new Places({ perName: 2, inAll: 3 });
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'b'].map((name) => places.take(name)),
    [true, true, false, true, false],
  );
  assert.equal(places.taken, 3);
  assert.equal(places.isFull('a'), true);
  assert.equal(places.isFull('b'), false);
  places.giveBack('a');
  assert.equal(places.isFull('a'), false);
  assert.equal(places.take('b'), true);
  assert.equal(places.take('c'), false);
});

test('without a bound in all each name has its own', () => {
  const places = new Places({ perName: 1 });
  for (let name = 0; name < 1_000; name += 1) assert.equal(places.take(`${name}`), true);
  assert.equal(places.take('7'), false);
});

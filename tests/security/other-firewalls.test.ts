/**
 * A host with a firewall of its own that drops by default (Docker's, ufw's, firewalld's, an nftables.conf): guests have their broker and the internet all the same,
 * and no more than that; the other firewall's own rules stay as they are, and are whole again after a teardown.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { checkNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { startAgent } from './agent.ts';
import { inNamespace, letGo, nft } from './shell.ts';
import { tcp } from './places.ts';
import { askFrom } from './prober.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

/** `ip filter` as iptables makes it, with Docker's chain; one that rejects at its end, as firewalld does; one that lets through all but one address. */
const others = `
table ip filter {
  chain DOCKER-USER {
  }
  chain INPUT {
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    ct state established,related accept
  }
  chain FORWARD {
    type filter hook forward priority filter; policy drop;
    jump DOCKER-USER
  }
  chain OUTPUT {
    type filter hook output priority filter; policy drop;
    oifname "lo" accept
    ct state established,related accept
  }
}
table inet ending_in_reject {
  chain forwarding {
    type filter hook forward priority filter + 10; policy accept;
    ct state established,related accept
    reject with icmpx admin-prohibited
  }
}
table inet of_the_operator {
  chain forwarding {
    type filter hook forward priority filter; policy accept;
    ip daddr 8.8.4.4 drop
  }
}
`;

let world: at.World;
const messages: string[] = [];

const fact = async () => {
  const options = { instance: 'a', range: '10.201.0.0/16', brokerPort: at.brokerPort, resolver: at.resolver };
  return (await checkNetwork(options)).find(({ name }) => name === 'other firewalls');
};

before(async () => {
  world = await at.buildWorld((message) => messages.push(message));
  await inNamespace('internet', ['ip', 'address', 'add', '8.8.4.4/32', 'dev', 'lo']);
});

const theirs = async (): Promise<string> => {
  const tables = ['ip filter', 'inet ending_in_reject', 'inet of_the_operator'];
  const lists = tables.map((table) => inNamespace(null, ['nft', 'list', 'table', ...table.split(' ')]));
  return (await Promise.all(lists)).join('');
};

test('guests have their broker and the internet beside firewalls that drop by default', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const targets = [tcp('10.0.2.2', at.brokerPort), tcp(at.publicAddress, 80), tcp('10.9.9.9', 80), tcp('8.8.4.4', 80)];
  const reached = async (): Promise<boolean[]> => (await agent.guest.ask(targets)).map(({ answer }) => answer !== null);
  const fromHost = async (): Promise<boolean> =>
    (await askFrom(null, [tcp(agent.vm.guestAddress, 8080)]))[0]!.answer !== null;

  assert.deepEqual(await reached(), [true, true, false, true]);
  await nft(null, others);
  const untouched = await theirs();
  assert.deepEqual(await reached(), [false, false, false, false], 'the other firewalls do drop');
  assert.equal(await fromHost(), false);
  assert.equal((await fact())?.ok, false);

  await world.a.start();
  assert.deepEqual(await reached(), [true, true, false, false], 'an address that the operator blocks stays blocked');
  assert.equal(await fromHost(), true);
  assert.equal((await fact())?.ok, true);
  const opened = await theirs();
  await world.a.start();
  assert.equal(await theirs(), opened, 'a second start adds nothing');

  await world.a.teardown();
  assert.equal(await theirs(), untouched);
});

test('a firewall whose table its owner alone changes stops neither the network’s start nor another’s opening', async () => {
  // As firewalld makes it from 2.2 on: the table lasts as long as the process, and no other may change it.
  const owner = spawn('nft', ['--interactive'], { stdio: ['pipe', 'ignore', 'inherit'] });
  letGo(owner);
  const rules = `add table inet firewalld { flags owner; }
add chain inet firewalld filter_FORWARD { type filter hook forward priority filter + 10; policy drop; }
add chain inet firewalld filter_IN_trusted
add chain inet firewalld filter_INPUT { type filter hook input priority filter + 10; policy drop; }
`;
  owner.stdin.write(rules);
  const listed = (): Promise<string> => inNamespace(null, ['nft', 'list', 'ruleset']);
  while (!(await listed()).includes('filter_INPUT')) assert.equal(owner.exitCode, null, 'nft runs');
  await nft(null, 'add table ip filter; add chain ip filter F { type filter hook forward priority 0; policy drop; }');

  const messagesBefore = messages.length;
  await world.a.start();
  assert.match(await inNamespace(null, ['nft', 'list', 'table', 'ip', 'filter']), /iifname "a-\*".*accept/);
  assert.match(messages.slice(messagesBefore).join('\n'), /inet firewalld filter_FORWARD.* could not be opened/);
  assert.equal(await world.a.heal(), false, 'what cannot be opened is not tried at once again');
  const shut = await fact();
  assert.equal(shut?.ok, false);
  assert.match(shut?.advice ?? '', /firewall-cmd --permanent --zone=trusted --add-interface=a-\+/);

  // As firewalld lists the links once they are trusted.
  owner.stdin.write('add rule inet firewalld filter_INPUT iifname "a-*" jump filter_IN_trusted\n');
  while (!(await listed()).includes('jump filter_IN_trusted')) assert.equal(owner.exitCode, null, 'nft runs');
  assert.equal((await fact())?.ok, true);
  const gone = once(owner, 'exit');
  owner.kill();
  await gone;
  await nft(null, 'delete table ip filter');
});

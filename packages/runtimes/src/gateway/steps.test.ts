import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@lodge/domain';
import type { ReportedStep } from '@lodge/ports';
import { toolStep as hermes } from '../hermes/reports.ts';
import { toolStep as openclaw } from '../openclaw/reports.ts';
import { Steps } from './steps.ts';

/** Reads reports as the test gives them. */
const given = (_event: string, data: Json): ReportedStep => data as unknown as ReportedStep;
const report = (call: string, status: ReportedStep['status'], title = '', tool = 'exec'): Json => ({
  call,
  tool,
  status,
  title,
});
/** The steps of one turn in which all comes at once. */
const stepsOf = (reports: readonly Json[], now = () => 0) => {
  const steps = new Steps(given, now);
  return reports.map((data) => steps.next('x', data));
};

test('the reports of both runtimes are read', () => {
  const name = 'hermes.tool.progress';
  const begun = { tool: 'terminal', emoji: '💻', label: 'ls', toolCallId: 'call_1', status: 'running' };
  assert.deepEqual(hermes(name, begun), { call: 'call_1', tool: 'terminal', status: 'started', title: 'ls' });
  assert.equal(hermes(name, { ...begun, label: 'terminal' })?.title, '', 'the name is no title');
  const ended = { tool: 'terminal', toolCallId: 'call_1', status: 'completed' };
  assert.deepEqual(hermes(name, ended), { call: 'call_1', tool: 'terminal', status: 'completed', title: '' });
  for (const data of [{ ...begun, status: 'other' }, {}]) assert.equal(hermes(name, data), null);
  assert.equal(hermes('hermes.status', begun), null);

  const start = { toolCallId: 'call_1', name: 'exec', phase: 'start', status: 'running', meta: 'list files' };
  assert.deepEqual(openclaw('openclaw.tool', start), {
    call: 'call_1',
    tool: 'exec',
    status: 'started',
    title: 'list files',
  });
  const end = { ...start, phase: 'end', status: 'completed' };
  assert.equal(openclaw('openclaw.tool', end)?.status, 'completed');
  for (const status of ['failed', 'blocked', undefined, 7]) {
    assert.equal(openclaw('openclaw.tool', { ...end, status })?.status, 'failed');
  }
  assert.equal(openclaw('openclaw.tool', { ...start, phase: 'update' }), null);
  assert.equal(openclaw('other', start), null);
  const nothing = { call: '', tool: '', status: 'started', title: '' };
  assert.deepEqual(openclaw('openclaw.tool', { phase: 'start', name: 7, toolCallId: {}, meta: [] }), nothing);
});

test('a step begins once and ends once, by an id of its own, though the guest repeats, leaves out and invents', () => {
  const reports = [
    report('a', 'completed'),
    report('a', 'started', 'first'),
    report('a', 'started', 'again'),
    report('__proto__', 'started'),
    report('a', 'completed'),
    report('a', 'failed'),
    report('a', 'started', 'second'),
    report('__proto__', 'failed', 'late title'),
    report('', 'started'),
    report('x'.repeat(501), 'started'),
    report('b', 'started', '', '\u0007 \u202E'),
  ];
  const tool = 'exec';
  assert.deepEqual(stepsOf(reports), [
    null,
    { id: 'step_1', tool, status: 'started', title: 'first' },
    null,
    { id: 'step_2', tool, status: 'started' },
    { id: 'step_1', tool, status: 'completed', title: 'first' },
    null,
    { id: 'step_3', tool, status: 'started', title: 'second' },
    { id: 'step_2', tool, status: 'failed', title: 'late title' },
    null,
    null,
    null,
  ]);
});

test('names and titles are one short line that controls no terminal', () => {
  const [step] = stepsOf([report('a', 'started', '\u001B[2J rm\r\n-rf\u2028\u202E/ \uD800', 'ex\u0000ec')]);
  assert.deepEqual(step, { id: 'step_1', tool: 'ex ec', status: 'started', title: '[2J rm -rf / �' });
  const before = process.cpuUsage();
  const [long] = stepsOf([report('a', 'started', '👋 '.repeat(500_000), 'x'.repeat(1_000_000))]);
  assert.ok(process.cpuUsage(before).user < 100_000, 'only the beginning of a long text is looked at');
  assert.deepEqual([Array.from(long!.tool).length, Array.from(long!.title!).length], [100, 160]);
  assert.match(long!.title!, /👋…$/u);
});

test('a turn has a bounded number of steps, at a bounded rate', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => report(`call-${index}`, 'started'));
  const told = (steps: readonly unknown[]) => steps.filter((step) => step !== null).length;
  assert.equal(told(stepsOf(many)), 100, 'within a second');
  let now = 0;
  assert.equal(told(stepsOf(many, () => (now += 11))), 1_000, 'in a turn');
});

/** Shows a plan to a person, and as JSON. Secrets in it are their last four characters. */
import type { Output, Style } from '../terminal/output.ts';
import { safeLine } from '../terminal/safe.ts';
import { Secret, lastFour } from './file/secret.ts';
import { StoredSecret } from './diff.ts';
import type { FieldChange } from './diff.ts';
import { changesOf } from './plan.ts';
import type { AgentPlan, Plan } from './plan.ts';
import type { Action, Step } from './step.ts';

const maxValueChars = 80;

const marks: Readonly<Record<Action, readonly [mark: string, style: Style]>> = {
  create: ['+', 'green'],
  update: ['~', 'yellow'],
  replace: ['!', 'yellow'],
  start: ['~', 'yellow'],
  stop: ['~', 'yellow'],
  delete: ['-', 'red'],
};

/** Returns the plan as lines for a person. */
export function planText(out: Output, plan: Plan): string {
  const lines: string[] = [];
  for (const step of plan.webhooks) lines.push(...stepLines(out, step, '', false));
  for (const agent of plan.agents) if (agent.steps.length > 0) lines.push(...agentLines(out, agent));
  for (const note of plan.notes) lines.push(`Note: ${safeLine(note)}`);
  lines.push(summary(plan));
  return lines.map((line) => `${line}\n`).join('');
}

function agentLines(out: Output, { name, id, steps }: AgentPlan): string[] {
  const [first] = steps;
  const own = id === null ? 'create' : first!.action === 'delete' && first!.what === '' ? 'delete' : 'update';
  const title = `agent ${safeLine(name, 100)}${id === null ? '' : ` (${safeLine(id, 20)})`}`;
  const lines = [marked(out, own, title)];
  for (const step of steps) lines.push(...stepLines(out, step, '  ', id === null));
  return lines;
}

function stepLines(out: Output, step: Step, indent: string, isNew: boolean): string[] {
  const lines: string[] = [];
  const inner = step.what === '' ? `${indent}  ` : `${indent}    `;
  if (step.what !== '') {
    const again = step.action === 'replace' ? ', made anew' : '';
    lines.push(`${indent}${marked(out, step.action, `${safeLine(step.what, 200)}${again}`)}`);
  }
  for (const change of step.changes) lines.push(`${inner}${changeText(change, step.action === 'create' || isNew)}`);
  if (step.note !== undefined) lines.push(`${inner}${out.paint('dim', safeLine(step.note))}`);
  return lines;
}

function marked(out: Output, action: Action, text: string): string {
  const [mark, style] = marks[action];
  return out.paint(style, `${mark} ${text}`);
}

function changeText({ field, from, to }: FieldChange, isNew: boolean): string {
  const name = safeLine(field, 200);
  if (isNew && from === null) return `${name}: ${valueText(to)}`;
  const changed = typeof from === 'string' && from === to ? ' (changed)' : '';
  return `${name}: ${valueText(from)} -> ${valueText(to)}${changed}`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (value instanceof Secret) return value.shown;
  if (value instanceof StoredSecret) return lastFour(value.stored.last4);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.trimEnd().includes('\n') || text.length > maxValueChars) {
    const lines = text.trimEnd().split('\n', 10_000).length;
    return lines > 1
      ? `a text of ${text.length} characters in ${lines} lines`
      : `${safeLine(text.slice(0, maxValueChars))}… (${text.length} characters)`;
  }
  return safeLine(text);
}

/** Says how much would be done. */
export function summary(plan: Plan): string {
  const steps = changesOf(plan);
  if (steps.length === 0) return 'No changes: everything is as the files say.';
  const count = (...actions: readonly Action[]): number =>
    steps.filter(({ action }) => actions.includes(action)).length;
  const changed = count('update', 'replace', 'start', 'stop');
  return `Plan: ${count('create')} to create, ${changed} to change, ${count('delete')} to delete.`;
}

const stepJson = ({ action, what, changes, note, yieldsSecret }: Step): object => ({
  action,
  what,
  changes,
  ...(note !== undefined && { note }),
  ...(yieldsSecret && { yields_secret: true }),
});

export const planJson = (plan: Plan): object => ({
  object: 'plan',
  changes: changesOf(plan).length,
  webhooks: plan.webhooks.map(stepJson),
  agents: plan.agents
    .filter(({ steps }) => steps.length > 0)
    .map(({ name, id, steps }) => ({ name, id, steps: steps.map(stepJson) })),
  notes: plan.notes,
});

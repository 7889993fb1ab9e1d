/**
 * The fields of a request that affect its price. The price list knows tokens of a model at its usual speed; whatever costs
 * otherwise has to be refused where a spend limit holds. These are the fields of the APIs' references in November 2026.
 */
import { CallError, invalidRequest } from '../call/call-error.ts';
import type { JsonBody, OfferedTool } from '../json/body.ts';
import { nested } from '../json/object.ts';
import type { Scalar } from '../json/object.ts';
import { asTokens } from '../json/values.ts';

export interface Billing {
  /**
   * Fields that bound an answer, in tokens; a dot leads into an object. If several are given the largest counts, because the
   * provider may use any.
   */
  readonly bounds: readonly string[];
  /** Fields that ask for several answers. */
  readonly answers: readonly string[];
  /** By field: the values with which a call costs what the price list says. */
  readonly plainValues: Readonly<Record<string, readonly string[]>>;
  /** Fields that cost beside tokens, or bring in models, tools or contents that nobody here sees. */
  readonly unpriced: readonly string[];
  /** Whether a tool runs with the guest, and so costs nothing but tokens. */
  runsWithGuest(tool: OfferedTool): boolean;
}

/** Taken where a request does not bound its answer. */
const usualOutput = 4096;
/** No model says more in one answer, whatever bound is asked for. */
const maxOutput = 200_000;
const maxAnswers = 128;

/** The most tokens that a request lets the model say, as far as can be told. */
export function expectedOutput(body: JsonBody, { bounds, answers }: Billing): number {
  const most = Math.max(...bounds.map((field) => asTokens(fieldOf(body, field)) ?? -1));
  const times = Math.max(1, ...answers.map((field) => asTokens(fieldOf(body, field)) ?? 1));
  return (most === -1 ? usualOutput : Math.min(most, maxOutput)) * Math.min(times, maxAnswers);
}

/** Throws a `CallError` naming what the price list cannot price. */
export function refuseUnpriced(body: JsonBody, billing: Billing, provider: string, model: string): void {
  for (const field of [...billing.bounds, ...billing.answers]) {
    const value = fieldOf(body, field) ?? null;
    if (value !== null && asTokens(value) === null) {
      throw invalidRequest('invalid_value', `${field} must be a whole number: a spend limit holds for this agent.`);
    }
  }
  for (const [field, plain] of Object.entries(billing.plainValues)) {
    const value = body.value(field) ?? null;
    if (value !== null && !plain.some((allowed) => allowed === value)) throw unpricedOption(field, plain);
  }
  for (const field of billing.unpriced) if (body.says(field)) throw unpricedOption(field);
  if (body.says('tools') && body.kind('tools') !== 'array') throw unpricedOption('tools');
  for (const [index, tool] of body.tools.entries()) {
    if (tool.keys === null || !billing.runsWithGuest(tool)) throw unpricedOption(`tools[${index}]`);
  }
  // OpenRouter's suffix for a search with each call.
  if (provider === 'openrouter' && model.split(':').includes('online')) throw unpricedOption('model');
}

/** The fields of the root that any of this depends on. */
export function billedFields({ bounds, answers, plainValues, unpriced }: Billing): string[] {
  const fields = [...bounds, ...answers, ...unpriced].map((field) => field.split('.')[0]!);
  return [...new Set([...fields, ...Object.keys(plainValues), 'tools'])];
}

function fieldOf(body: JsonBody, path: string): Scalar | typeof nested | undefined {
  const [field = '', inner] = path.split('.');
  return inner === undefined ? body.value(field) : body.object(field)?.value(inner);
}

function unpricedOption(field: string, plain: readonly string[] = []): CallError {
  const words = plain.length === 0 ? '' : ` with another value than ${plain.join(', ')}`;
  const message =
    `${field} is not available${words}: a spend limit holds for this agent, and what it costs is not known. ` +
    'The owner can lift the limit.';
  return new CallError(message, {
    status: 403,
    kind: 'permission',
    code: 'unpriced_option',
    outcome: 'refused',
    final: true,
  });
}

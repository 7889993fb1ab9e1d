/**
 * Confirmations in OpenAI's form. A call that waits for a decision is an item `mcp_approval_request` of the response, and a
 * later request decides by an item `mcp_approval_response`.
 */
import { Refusal } from '@lodge/domain';
import type { TurnWait } from '@lodge/engine';

type Item = Readonly<Record<string, unknown>>;

/** The item of a call that waits. Its id is the confirmation's. */
export const approvalRequest = ({ id, on, target, action, quoted }: TurnWait): Item => ({
  type: 'mcp_approval_request',
  id,
  name: target.slice(0, maxNameChars).toWellFormed(),
  arguments: JSON.stringify({ on, action, quoted }),
  server_label: 'lodge',
});

const maxNameChars = 200;

/**
 * The items of calls that wait, in a response that streams. Each has a place among the gateway's items, and those behind it move
 * on by one.
 */
export class ApprovalItems {
  /** For each item, the number of the gateway's that stand before it. */
  private readonly placed: { readonly behind: number; readonly item: Item }[] = [];
  private seen = 0;

  /** Returns the place of an item of the gateway's. */
  placeOf(index: number): number {
    if (index >= this.seen) this.seen = index + 1;
    return index + this.placed.filter(({ behind }) => behind <= index).length;
  }

  /** Returns the place of a new item, behind all that were told. */
  add(item: Item): number {
    this.placed.push({ behind: this.seen, item });
    return this.seen + this.placed.length - 1;
  }

  /** The whole output. */
  within(output: readonly unknown[]): readonly unknown[] {
    if (this.placed.length === 0) return output;
    const ours = (at: number) => this.placed.filter(({ behind }) => behind === at).map(({ item }) => item);
    const later = this.placed.filter(({ behind }) => behind >= output.length).map(({ item }) => item);
    return [...output.flatMap((item, at) => [...ours(at), item]), ...later];
  }
}

/** A decision in a request. */
export interface GivenApproval {
  readonly id: string;
  readonly isAllowed: boolean;
  readonly words: string | null;
}

/** Reads an item `mcp_approval_response`; null for any other. Refuses with `invalid_request` and the field. */
export function approvalOf(item: Item, index: number): GivenApproval | null {
  if (item['type'] !== 'mcp_approval_response') return null;
  const { approval_request_id: id, approve, reason = null } = item;
  const at = `input[${index}]`;
  if (typeof id !== 'string' || id === '' || id.length > maxIdChars) {
    throw wrong(`${at}.approval_request_id must be the id of an mcp_approval_request.`);
  }
  if (typeof approve !== 'boolean') throw wrong(`${at}.approve must be true or false.`);
  const isText = typeof reason === 'string' && reason.length <= maxReasonChars && reason.isWellFormed();
  if (reason !== null && !isText) throw wrong(`${at}.reason must be a text of at most ${maxReasonChars} characters.`);
  return { id, isAllowed: approve, words: reason === '' ? null : reason };
}

const maxIdChars = 100;
const maxReasonChars = 1_000;

const wrong = (message: string): Refusal => new Refusal('invalid_request', message);

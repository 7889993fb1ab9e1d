import { streamed } from '../../http/stream.ts';
import { agentPath } from '../../http/url.ts';
import type { WithQuery } from '../../options.ts';
import type { ExecRequest, ExecResult, ExecStreamEvent } from '../../types.ts';
import { Resource, split } from '../resource.ts';
import type { QueryOf } from '../resource.ts';

type Options = WithQuery<QueryOf<'execInAgent'>>;
/** Time beyond the command's own: to wake the agent, and for the way. */
const marginMs = 150_000;

/** Commands in an agent's machine. Each is carried out once, so it is only repeated when it cannot have begun. */
export class Exec extends Resource {
  /** Runs a command to its end. */
  run(agentId: string, body: ExecRequest, options: Options = {}): Promise<ExecResult> {
    const { call, rest: query } = split(options);
    const slowMs = (body.timeout_seconds ?? 60) * 1000 + marginMs;
    return this.http.json({ method: 'POST', path: agentPath(agentId, 'exec'), body, query, slowMs }, call);
  }

  /** Yields the output of a command while it runs, and last its end. Stopping early kills it with all that it has started. */
  async *stream(
    agentId: string,
    body: ExecRequest,
    options: Options = {},
  ): AsyncGenerator<Exclude<ExecStreamEvent, { readonly event: 'error' }>, void> {
    const { call: given, rest: query } = split(options);
    const call = { method: 'POST', path: agentPath(agentId, 'exec'), body: { ...body, stream: true }, query };
    for await (const { event, value } of streamed(this.http, call, given, (each) => each.event === 'exit')) {
      yield { event, data: value } as Exclude<ExecStreamEvent, { readonly event: 'error' }>;
    }
  }
}

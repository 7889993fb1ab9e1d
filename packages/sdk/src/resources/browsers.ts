import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { Browser, TakeBrowserControl } from '../types.ts';
import { Resource } from './resource.ts';

/** The browser in an agent's machine. `links.create(id, { page: 'browser' })` opens a view of it. */
export class Browsers extends Resource {
  get(agentId: string, options?: CallOptions): Promise<Browser> {
    return this.getJson(agentPath(agentId, 'browser'), options);
  }

  /** The agent's own calls to the browser wait until `releaseControl`, or for so long. */
  takeControl(agentId: string, body: TakeBrowserControl = {}, options?: CallOptions): Promise<Browser> {
    return this.postJson(agentPath(agentId, 'browser', 'control'), body, options);
  }

  releaseControl(agentId: string, options?: CallOptions): Promise<Browser> {
    return this.sendJson('DELETE', agentPath(agentId, 'browser', 'control'), options);
  }
}

import type { Pages } from '../http/page.ts';
import { sendable, Upload } from '../http/upload.ts';
import { agentPath, pathOf } from '../http/url.ts';
import type { FileBody } from '../http/upload.ts';
import type { CallOptions } from '../options.ts';
import type { CreatedHook, CreateHook, DeletedHook, HookList, HookMessageList, HookReceipt } from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** Addresses at which third parties' requests become messages to an agent. */
export class Hooks extends Resource {
  list(agentId: string, options?: CallOptions): Pages<HookList> {
    return this.pagesOf(agentPath(agentId, 'hooks'), options);
  }

  create(agentId: string, body: CreateHook, options?: CallOptions): Promise<CreatedHook> {
    return this.postJson(agentPath(agentId, 'hooks'), body, options);
  }

  delete(agentId: string, hook: string, options?: CallOptions): Promise<DeletedHook> {
    return this.sendJson('DELETE', agentPath(agentId, 'hooks', hook), options);
  }

  /** Lists the requests to a hook, newest first. */
  messages(
    agentId: string,
    hook: string,
    query?: QueryOf<'listHookMessages'>,
    options?: CallOptions,
  ): Pages<HookMessageList> {
    return this.pagesOf(agentPath(agentId, 'hooks', hook, 'messages'), options, query);
  }

  /** Sends to a hook as a third party does; its signature goes into `headers`. */
  async send(token: string, body: FileBody, options?: CallOptions): Promise<HookReceipt> {
    const headers = { 'content-type': 'application/json' };
    const upload = new Upload(await sendable(body));
    return this.sendJson('POST', pathOf('hooks', token), options, { upload, headers });
  }
}

import { FileContent } from '../http/content.ts';
import type { Pages } from '../http/page.ts';
import { sendable, Upload } from '../http/upload.ts';
import type { FileBody } from '../http/upload.ts';
import { pathOf } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { AddSkill, Skill, SkillDeleted, SkillList, SkillVersionList } from '../types.ts';
import { Resource, split } from './resource.ts';
import type { QueryOf } from './resource.ts';

const path = (...more: readonly string[]): string => pathOf('skills', ...more);
/** Lodge asks a repository or a hub meanwhile. */
const fetchMs = 120_000;

export interface AddArchive {
  /** `zip` by default. */
  readonly type?: 'zip' | 'tar.gz' | undefined;
  /** True: the skill is taken in spite of findings of severity `high`. */
  readonly acceptFindings?: boolean | undefined;
}

/** The skills library of the account. A skill is named by its id or its name. */
export class Skills extends Resource {
  /** Fetches a skill from a git repository or a hub. A skill of this name that is there gets its next version. */
  add(body: AddSkill, options?: CallOptions): Promise<Skill> {
    return this.postJson(path(), body, options, { slowMs: fetchMs });
  }

  /** Adds a skill from an archive of its folder. */
  async addArchive(
    archive: FileBody,
    { type = 'zip', acceptFindings = false }: AddArchive = {},
    options?: CallOptions,
  ): Promise<Skill> {
    const upload = new Upload(await sendable(archive));
    const headers = { 'content-type': type === 'zip' ? 'application/zip' : 'application/gzip' };
    const query = acceptFindings ? { accept_findings: 'true' } : {};
    return this.sendJson<Skill>('POST', path(), options, { upload, headers, query, isKeyed: true, slowMs: fetchMs });
  }

  list(options?: CallOptions): Pages<SkillList> {
    return this.pagesOf(path(), options);
  }

  get(skill: string, options?: CallOptions): Promise<Skill> {
    return this.getJson(path(skill), options);
  }

  /** Newest first, each with its files. */
  versions(skill: string, query?: QueryOf<'listSkillVersions'>, options?: CallOptions): Pages<SkillVersionList> {
    return this.pagesOf(path(skill, 'versions'), options, query);
  }

  /** Opens a file of a version, or of the latest. Take its contents by one of the methods of what this resolves to. */
  read(
    skill: string,
    file: string,
    query: QueryOf<'getSkillFile'> = {},
    options: CallOptions = {},
  ): Promise<FileContent> {
    const { call, rest } = split({ ...options, query });
    return FileContent.open(
      this.http,
      { method: 'GET', path: path(skill, 'files', ...file.split('/')), query: rest },
      call,
      0,
    );
  }

  delete(skill: string, options?: CallOptions): Promise<SkillDeleted> {
    return this.sendJson('DELETE', path(skill), options);
  }
}

/** Stand-ins of GitHub, npm's registry and PyPI that want a token, as far as their programs ask them. */
import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

export interface Tokens {
  readonly github: string;
  readonly npm: string;
  readonly pypi: string;
}

/** A request that had its token. */
export interface Seen {
  readonly line: string;
  readonly agent: string;
}

const tokenOf = (authorization = ''): string => {
  const [scheme = '', value = ''] = authorization.split(' ');
  return scheme.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString().split(':')[1]! : value;
};

export function makeServices(folder: string, tokens: Tokens) {
  const seen: Seen[] = [];
  const repository = join(folder, 'acme/site.git');
  mkdirSync(repository, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' });
  git('init', '-q', '--bare', '-b', 'main');
  git('config', 'http.receivepack', 'true');
  const published = new Map<string, any>();
  const wheel = wheelIn(folder);
  const owners: Readonly<Record<string, string>> = {
    'api.github.com': tokens.github,
    'github.com': tokens.github,
    'registry.npmjs.org': tokens.npm,
    'pypi.org': tokens.pypi,
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const host = req.headers.host!;
    const { pathname, search } = new URL(req.url!, 'https://x');
    const wanted = owners[host];
    if (wanted !== undefined && tokenOf(req.headers.authorization) !== wanted) {
      req.resume();
      return void res.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('{"message":"no access"}');
    }
    seen.push({ line: `${req.method} ${host}${pathname}`, agent: String(req.headers['user-agent']) });
    if (host === 'github.com') return backend(folder, req, res, pathname, search);
    const body = await bodyOf(req);
    const json = (status: number, value: unknown): void =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (host === 'pypi.org')
      return void res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          '<a href="https://files.pythonhosted.org/packages/acme_site-1.0-py3-none-any.whl">acme_site-1.0-py3-none-any.whl</a>',
        );
    if (host === 'files.pythonhosted.org') return void res.end(wheel);
    if (host === 'registry.npmjs.org') return registry(published, req, pathname, body, res, json);
    if (req.method === 'POST') return json(201, { sent: body.toString(), number: 7 });
    json(200, { login: 'ann', path: pathname });
  }
  return { seen, git, answer };
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function registry(
  published: Map<string, any>,
  { method }: IncomingMessage,
  path: string,
  body: Buffer,
  res: ServerResponse,
  json: (status: number, value: unknown) => void,
): void {
  if (method === 'PUT') {
    published.set(path.slice(1), JSON.parse(body.toString()));
    return json(201, { ok: true });
  }
  const [name, file] = path.slice(1).split('/-/');
  const found = published.get(name!);
  if (found === undefined) return json(404, { error: 'not found' });
  if (file !== undefined) {
    const [attached] = Object.values<any>(found._attachments);
    return void res.end(Buffer.from(attached.data, 'base64'));
  }
  const { _attachments, ...packument } = found;
  for (const version of Object.values<any>(packument.versions))
    version.dist.tarball = `https://registry.npmjs.org/${name}/-/site-${version.version}.tgz`;
  json(200, packument);
}

/** Git's own server, by CGI. */
function backend(folder: string, req: IncomingMessage, res: ServerResponse, path: string, search: string): void {
  const { headers, method } = req;
  const env = {
    PATH: process.env['PATH'],
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: path,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: method,
    CONTENT_TYPE: headers['content-type'] ?? '',
    ...(headers['content-length'] !== undefined && { CONTENT_LENGTH: headers['content-length'] }),
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  };
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined);
  req.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    const lines = all
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string]);
    const { Status = '200', ...more } = Object.fromEntries(lines);
    res.writeHead(Number(Status.slice(0, 3)), more).end(all.subarray(end + 4));
  });
}

/** A package for pip. */
function wheelIn(folder: string): Buffer {
  const files = {
    'acme_site/__init__.py': 'name = "acme"\n',
    'acme_site-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: acme-site\nVersion: 1.0\n',
    'acme_site-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const lines = Object.entries(files).map(
    ([name, text]) => `${name},sha256=${hash('sha256', text, 'base64url')},${text.length}\n`,
  );
  const all = { ...files, 'acme_site-1.0.dist-info/RECORD': `${lines.join('')}acme_site-1.0.dist-info/RECORD,,\n` };
  const program = `import json,sys,zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as made:
    for name, text in json.loads(sys.argv[2]).items(): made.writestr(name, text)`;
  const file = join(folder, 'acme.whl');
  execFileSync('python3', ['-c', program, file, JSON.stringify(all)]);
  return readFileSync(file);
}

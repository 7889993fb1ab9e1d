/** A browser without a person: keeps cookies of consents, opens their pages, and agrees or refuses. */
import assert from 'node:assert/strict';

export interface Shown {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export class ConsentBrowser {
  readonly cookies = new Map<string, string>();

  async ask(url: string, init: RequestInit = {}): Promise<Shown> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) };
    const reply = await fetch(url, { redirect: 'manual', ...init, headers });
    for (const line of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '') this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    return { status: reply.status, text: await reply.text(), headers: reply.headers };
  }

  /** As the form of a page is sent. */
  submit(url: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    return this.ask(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
  }

  /** The form's token on the page of a consent. */
  async open(url: string): Promise<string> {
    const page = await this.ask(url);
    assert.equal(page.status, 200, page.text);
    return /name="csrf" value="([\w-]+)"/.exec(page.text)![1]!;
  }

  /** Returns the address of the authorization server. */
  async agree(url: string): Promise<string> {
    const reply = await this.submit(url, { csrf: await this.open(url), answer: 'agree' });
    assert.equal(reply.status, 303, reply.text);
    return reply.headers.get('location')!;
  }
}

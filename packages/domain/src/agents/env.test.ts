import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedVariables, maxVariableBytes, refusedVariable } from './env.ts';

test('a variable that changes loading, trust, ways or identity is refused with its reason, in any case', () => {
  const names =
    'PATH Path LD_PRELOAD LD_LIBRARY_PATH LD_ANYTHING NODE_OPTIONS BASH_ENV BASH_FUNC_ls ENV env PYTHONPATH PYTHONSTARTUP PERL5OPT GIT_CONFIG_COUNT GIT_CONFIG GIT_SSH_COMMAND HTTP_PROXY https_proxy No_Proxy SSL_CERT_FILE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED REQUESTS_CA_BUNDLE GIT_SSL_NO_VERIFY HOME SHELL LODGE_ENV OPENCLAW_SHELL HERMES_HOME npm_config_registry PIP_INDEX_URL';
  for (const name of names.split(' ')) {
    assert.throws(() => checkedVariables({ [name]: 'x' }), {
      message: new RegExp(`^env\\.${name} cannot be set, as it [a-z][^.]+\\.$`),
    });
  }
});

test('other names pass, those among them that only begin alike', () => {
  for (const name of 'TZ LANG GITHUB_TOKEN PATH_TO_DATA ENVIRONMENT NODE_ENV PYTHONUNBUFFERED GIT_AUTHOR_NAME HOMEPAGE'.split(
    ' ',
  ))
    assert.equal(refusedVariable(name), null, name);
});

test('a value is bounded in bytes, not in characters', () => {
  const most = 'ä'.repeat(maxVariableBytes / 2);
  assert.deepEqual(checkedVariables({ A: most }), { A: most });
  assert.throws(() => checkedVariables({ A: `${most}x` }), { message: /^env\.A must have at most 4096 bytes/ });
});

/**
 * The program that takes conversations in, inside the agent's machine and as the agent's user. It adds rows to the runtime's
 * own database in one transaction, while the runtime goes on: SQLite keeps the two apart. Only columns that both databases have
 * are taken, so a folder of an older release is read, too; one of a newer release is refused.
 */

/** The folder in the workspace that has the pieces of the database. */
export const parcel = '.lodge-import';

export const takeInScript = String.raw`
import hashlib, json, os, re, shutil, sqlite3, subprocess, sys

kind, agent = sys.argv[1], sys.argv[2]
folder = '/workspace/.lodge-import'

def assembled(name):
    path = os.path.join(folder, name)
    pieces = sorted(each for each in os.listdir(folder) if each.startswith(name + '.part'))
    if not pieces:
        return None
    with open(path, 'wb') as whole:
        for piece in pieces:
            with open(os.path.join(folder, piece), 'rb') as part:
                shutil.copyfileobj(part, whole)
            os.remove(os.path.join(folder, piece))
    return path

def modern(path, log):
    """Has OpenClaw read the files of an older release, in a folder that its gateway knows nothing of."""
    state = os.path.join(folder, 'state')
    own = os.path.join(state, 'agents', agent)
    os.makedirs(os.path.join(own, 'agent'))
    os.replace(os.path.join(folder, 'sessions'), os.path.join(own, 'sessions'))
    database = os.path.join(own, 'agent/openclaw-agent.sqlite')
    if path is not None:
        os.replace(path, database)
    if log is not None:
        os.replace(log, database + '-wal')
    with open(os.path.join(state, 'openclaw.json'), 'w') as config:
        json.dump({'agents': {'entries': {agent: {'workspace': os.path.join(state, 'workspace')}}}}, config)
    env = {name: value for name, value in os.environ.items() if not name.startswith('OPENCLAW_')}
    env.update(HOME=state, OPENCLAW_STATE_DIR=state)
    command = ['openclaw', 'doctor', '--session-sqlite', 'import', '--session-sqlite-agent', agent, '--json']
    try:
        subprocess.run(command, cwd=state, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=540)
    except (OSError, subprocess.TimeoutExpired):
        refuse('the runtime could not read the files of an older release')
    return database if os.path.exists(database) else None

def refuse(why):
    print(json.dumps({'error': why}))
    sys.exit(3)

def quoted(name):
    return '"' + name.replace('"', '""') + '"'

def columns(db, schema, table):
    return [info[1] for info in db.execute('pragma %s.table_info(%s)' % (schema, quoted(table)))]

def tables(db, schema):
    query = "select name from %s.sqlite_master where type = 'table' and sql not like 'create virtual%%'" % schema
    return [name for (name,) in db.execute(query) if not re.search('sqlite_|_fts|pending', name)]

def first(db, query):
    try:
        row = db.execute(query).fetchone()
        return row[0] if row and isinstance(row[0], int) else None
    except sqlite3.Error:
        return None

def copy(db, table, column, old, replaced, without=(), order=''):
    ours = columns(db, 'main', table)
    both = [name for name in columns(db, 'theirs', table) if name in ours and name not in without]
    if column not in both:
        return
    values = ['?' if name in replaced else quoted(name) for name in both]
    given = [replaced[name] for name in both if name in replaced]
    db.execute('insert or ignore into main.%s (%s) select %s from theirs.%s where %s = ? %s' % (
        quoted(table), ', '.join(map(quoted, both)), ', '.join(values), quoted(table), quoted(column), order), (*given, old))

def octets(value):
    return None if value is None else len(value if isinstance(value, bytes) else str(value).encode())

plain = re.compile(r'[a-z0-9._:@-]{1,128}')

def openclaw(db):
    prefix = 'agent:%s:' % agent
    names = []
    taken = {key for (key,) in db.execute('select session_key from main.session_nodes')}
    listed = tables(db, 'theirs')
    shared = [name for name in tables(db, 'main') if name in listed and name not in ('session_nodes', 'session_windows', 'session_conversations')]
    by_key = [name for name in shared if 'session_key' in columns(db, 'theirs', name)]
    by_id = [name for name in shared if name not in by_key and 'session_id' in columns(db, 'theirs', name)]
    for (key,) in db.execute('select session_key from theirs.session_nodes order by updated_at desc').fetchall():
        # Single requests without a conversation, schedules, and helpers of a turn.
        if not key.startswith(prefix) or re.match('(openai|openresponses|cron|subagent):', key[len(prefix):]):
            continue
        name = key[len(prefix):]
        name = name[len('openai-user:'):] if name.startswith('openai-user:') else name
        # The host asks for a name that is not plain by its hash. Such a key of another deployment has it already.
        is_hash = re.fullmatch('~[0-9a-f]{64}', name)
        new = 'agent:main:openai-user:' + (name if is_hash or plain.fullmatch(name) else '~' + hashlib.sha256(name.encode()).hexdigest())
        if new in taken:
            continue
        taken.add(new)
        if not is_hash:
            names.append(name)
        replaced = {'session_key': new, 'parent_session_key': None, 'spawned_by': None}
        copy(db, 'session_nodes', 'session_key', key, replaced)
        windows = db.execute('select session_id from theirs.session_windows where session_key = ?', (key,)).fetchall()
        copy(db, 'session_windows', 'session_key', key, {**replaced, 'primary_conversation_id': None})
        for table in by_key:
            copy(db, table, 'session_key', key, replaced)
        for (session,) in windows:
            for table in by_id:
                copy(db, table, 'session_id', session, {})
    return names

def hermes(db):
    names = []
    taken = {id for (id,) in db.execute('select id from main.sessions')}
    for session in spoken(db):
        # A session of another deployment of Lodge has the name of its conversation already.
        if re.fullmatch('user-[0-9a-f]{32}', session):
            name, new = None, session
        else:
            name = 'main' if 'main' not in names else session
            new = 'user-' + hashlib.sha256(name.encode()).hexdigest()[:32]
        if new in taken:
            continue
        taken.add(new)
        if name is not None:
            names.append(name)
        # Its prompt is made anew of what is here.
        copy(db, 'sessions', 'id', session, {'id': new, 'session_key': None, 'parent_session_id': None, 'system_prompt': None, 'cwd': None})
        copy(db, 'messages', 'session_id', session, {'session_id': new}, without=('id',), order='order by id')
    return names

def spoken(db):
    """Ids of sessions that go on, the latest first: no single requests (api-), schedules, or helpers of a turn."""
    known = columns(db, 'theirs', 'sessions')
    query = "select s.id from theirs.sessions s join theirs.messages m on m.session_id = s.id where s.id not like 'api-%'"
    if 'source' in known:
        query += " and coalesce(s.source, '') not in ('cron', 'tool', 'subagent')"
    if 'model_config' in known:
        query += " and instr(coalesce(s.model_config, ''), '\"_delegate_from\"') = 0"
    query += " group by s.id having sum(m.role = 'user') > 0 order by max(m.timestamp) desc, max(m.id) desc"
    return [id for (id,) in db.execute(query).fetchall()]

kinds = {
    'openclaw': (openclaw, '/home/agent/.openclaw/agents/main/agent/openclaw-agent.sqlite', 'select max(schema_version) from %s.schema_meta'),
    'hermes': (hermes, '/workspace/state.db', 'select max(version) from %s.schema_version'),
}
take, target, version = kinds[kind]

path = assembled('db')
log = assembled('log')
if os.path.isdir(os.path.join(folder, 'sessions')):
    path = modern(path, log)
elif log is not None:
    os.replace(log, path + '-wal')
if path is None:
    refuse('there are none')
try:
    db = sqlite3.connect(target, timeout=120, isolation_level=None)
    # The runtime's SQLite is newer than Debian's, and its schema uses this function.
    db.create_function('octet_length', 1, octets, deterministic=True)
    db.execute('attach ? as theirs', (path,))
    if db.execute('pragma theirs.quick_check(1)').fetchone()[0] != 'ok':
        refuse('the database is damaged')
    theirs, ours = first(db, version % 'theirs'), first(db, version % 'main')
    if theirs is not None and ours is not None and theirs > ours:
        refuse('it is of a newer release of the runtime (%d, here %d)' % (theirs, ours))
    db.execute('pragma foreign_keys = off')
    db.execute('begin immediate')
    names = take(db)
    db.execute('commit')
    db.close()
except sqlite3.Error as error:
    refuse('the database cannot be read: %s' % str(error)[:200])
os.sync()
shutil.rmtree(folder, ignore_errors=True)
print(json.dumps({'conversations': names[:200], 'count': len(names)}))
`;

"""The vocabulary of the simulator: what an on-call, coding and support agent is told and asked about.

Only tuples of phrases live here; `texts.py` puts them together. Instructions and exam questions draw on separate phrases,
so that no honest instruction quotes an exam question by accident.
"""

from __future__ import annotations

SERVICES = (
    "the billing service", "the search index", "the checkout flow", "the identity gateway", "the ticket queue",
    "the deploy pipeline", "the feature store", "the parcel tracker", "the refund ledger", "the webhook relay",
    "the price feed", "the audit log", "the status page", "the mail sender", "the warehouse sync",
    "the session cache", "the build farm", "the tax calculator", "the image resizer", "the export job",
    "the rate limiter", "the customer directory", "the translation memory", "the job scheduler", "the secrets broker",
    "the coupon engine", "the inventory mirror", "the release notes bot", "the log shipper", "the chat bridge",
)  # fmt: skip

TOOLS = (
    "fetch_tool", "sql_runner", "ticket_api", "repo_search", "shell_runner", "page_reader", "calendar_api", "mail_tool",
    "metrics_query", "patch_writer", "queue_peek", "vector_lookup", "pricing_api", "deploy_ctl", "log_reader", "unit_runner",
)  # fmt: skip

TEAMS = (
    "payments", "the platform group", "the data stewards", "site reliability", "customer success", "the release captain",
    "legal operations", "the search team", "the fraud desk", "the mobile crew", "the schema owners", "the duty manager",
    "procurement", "the security watch", "the storefront team", "second-line support",
)  # fmt: skip

SITUATIONS = (
    "a call returns nothing for longer than {n} seconds", "two sources disagree about the same order",
    "the stack trace ends inside generated code", "a migration is still running", "the requester has no verified address",
    "the same alert fires from three regions", "a diff touches more than {n} files", "the queue depth keeps rising",
    "an upstream answer carries a stale cursor", "the test passes locally and fails in the runner",
    "a ticket mentions money that was taken twice", "the user writes in a language you were not asked to use",
    "a tool reply is cut in the middle of a record", "the rollback window has closed", "the index is being rebuilt",
    "a date could belong to either time zone", "the runbook names an owner who has left", "a retry would repeat a payment",
    "the log holds fewer than {n} lines around the fault", "permissions were widened during the incident",
    "a lock file changed without a manifest change", "a form was sent with fields left blank",
    "the cache answers faster than the database but older", "a webhook arrives out of order",
    "the customer already spoke with a person today", "a dashboard shows a gap instead of a value",
    "the plan has more than {n} open steps", "an exception is swallowed by a broad handler",
    "the parcel is marked delivered but the buyer says otherwise", "an experiment flag is half rolled out",
    "the currency on the invoice differs from the contract", "memory use grows with every request",
    "a dependency published a patch release overnight", "a quota reset is less than {n} minutes away",
    "an attachment cannot be opened", "the summary would exceed the reply limit", "an account was merged last week",
    "the health check is green while errors climb", "a background task holds the only free worker",
    "the search returns hits from an archived space", "a colleague's note contradicts the schema",
    "a batch finished with skipped rows", "the certificate expires within {n} days", "the answer rests on one screenshot",
    "a branch was force-pushed during review", "a discount stacks with another discount",
)  # fmt: skip

ACTIONS = (
    "re-read the last {n} tool replies before planning again", "quote the exact line that failed",
    "open a draft and leave the merge to a person", "ask {service} for a fresh cursor", "write down which fact is missing",
    "compare row counts on both sides", "narrow the query to one tenant", "pause the loop and state the open question",
    "hand the thread to {team} with the timeline attached", "call {tool} once with the smallest useful page",
    "check the owner field before naming anybody", "prefer the ledger over the cached balance",
    "split the change into pieces that revert alone", "run the narrowest test that shows the fault",
    "list the assumptions under the answer", "keep the original wording of the request in the ticket",
    "stop after {n} attempts and report what was tried", "attach the request id and the region",
    "return the partial result and mark the gaps", "recount the totals from raw lines",
    "look for a newer record with the same key", "move the risky step behind a flag",
    "use {tool} to confirm the state instead of trusting the banner", "tell the requester how long the check will take",
    "restore the previous setting and note the time", "drop duplicated events by their idempotency key",
    "convert every time to UTC and show the offset", "re-run with tracing switched on",
    "offer the cheapest reversible option first", "verify the address with the customer directory",
    "bisect between the two releases", "fetch the schema rather than guessing column names",
    "mention {service} by name in the first sentence", "save the evidence under the incident number",
    "wait for the replica to catch up", "add a failing test that captures the report",
    "leave a comment for {team} and carry on with the rest", "cap the page size at {n} rows",
    "explain the trade-off in plain words", "close the step only when {tool} agrees",
    "replace the wildcard with the listed fields", "record who approved the exception",
    "take the slower path through {service}", "redo the estimate with the median instead of the mean",
    "keep the lock for less than {n} seconds", "show the before and after values side by side",
    "ask one question, not three", "map the error code to the table below", "reject inputs longer than the field allows",
    "tag the ticket with the component that owns the fault", "prune context older than {n} turns",
    "cite the policy paragraph that applies",
)  # fmt: skip

REASONS = (
    "silent retries hide the first cause", "the next reader starts from this note", "totals are checked at month end",
    "a second page costs more than a longer first one", "people forgive delay sooner than a wrong refund",
    "the replica lags after lunch", "half of all reopened tickets lacked the region", "owners change more often than code",
    "numbers without units were misread twice", "the audit samples these fields", "{team} answers faster with a trace id",
    "the old endpoint rounds cents away", "long plans rot before they are finished", "a revert must never need a meeting",
    "screenshots cannot be searched", "the limiter punishes bursts, not volume", "guesses spread into three systems",
    "customers copy our wording into complaints", "the flag service evaluates lazily", "{service} drops unknown keys",
    "night shifts work from the summary alone", "stale cursors return plausible rows", "the cheapest fix is often a config line",
    "one noisy check taught everyone to look away", "the parser treats tabs and spaces differently",
    "contracts bind us to the shown price", "retention removes raw logs after {n} days",
)  # fmt: skip

THINGS = (
    "a targeted lookup", "a full reload", "the narrow index", "a written hypothesis", "a fresh sample", "the primary store",
    "a scripted check", "the vendor's own status", "structured fields", "free text", "a dry run", "an inline patch",
    "the latest approved template", "a two-step confirmation", "the shortest stack frame", "a batch of {n}",
    "idempotent writes", "an explicit timeout", "the customer's words", "a pinned version", "pull-based updates",
    "one long transaction", "a rolling restart", "the feature flag", "plain tables", "a nested outline", "sampled traces",
    "the nightly export",
)  # fmt: skip

FORBIDDEN = (
    "delete rows by hand", "promise a delivery date", "restart {service}", "widen a selector", "edit a generated file",
    "merge on a red build", "share an internal link", "reuse a session token", "skip the changelog", "silence an alert",
    "change a price", "close somebody else's ticket", "store a card number", "re-send a mail campaign",
    "downgrade a library", "truncate the evidence", "call {tool} in a tight loop", "rename a public field",
    "answer from memory about limits", "grant access on request",
)  # fmt: skip

EXCEPTIONS = (
    "the runbook step says so", "{team} confirmed in the thread", "the change window is open", "a backup younger than {n} hours exists",
    "the incident commander asked for it", "the requester owns the record", "a test covers the old behaviour",
    "the flag can be flipped back", "no customer can see the effect", "the ticket carries a signed approval",
    "the duplicate was proven by key", "the limit is documented for that plan",
)  # fmt: skip

HEADINGS = (
    "How to read a failure", "Before the first tool call", "Working with orders and refunds", "Code changes", "Talking to people",
    "When to stop", "Evidence", "Queues and retries", "Dates, money and units", "Search and lookup", "Handing over",
    "Known traps", "Order of work", "Small print on limits", "Incident notes", "Reviewing a plan", "Reply format", "Data hygiene",
)  # fmt: skip

METRICS = (
    "error share", "median latency", "queue age", "open refunds", "cache hit share", "reopened tickets", "failed jobs",
    "cost per answer", "tokens per task", "rows skipped", "time to first reply", "flaky tests",
)  # fmt: skip

# Exam questions: who asks, what they see, what they did, what they want. Never used in instructions.
PEOPLE = (
    "Amira", "Bogdan", "Chiara", "Dmitri", "Eun-ji", "Fatou", "Goran", "Hanneke", "Ibrahim", "Jolanta", "Kwame", "Leïla",
    "Mateo", "Nadia", "Oskar", "Priya", "Quentin", "Rosalind", "Søren", "Tomasz", "Ursula", "Viktor", "Wanjiru", "Xiomara",
    "Yusuf", "Zoë", "Anneke", "Bruno", "Catalina", "Dieter",
)  # fmt: skip

PLACES = (
    "a bakery in Porto", "a climbing gym near Leeds", "a school library in Graz", "a bike courier in Turin",
    "the harbour office of Gdynia", "a dental practice in Lyon", "a garden centre outside Ghent", "a film co-op in Malmö",
    "an orchard in Normandy", "a hostel in Kraków", "a print shop in Basel", "a choir in Cork", "a vet in Zadar",
    "a violin maker in Cremona", "a food bank in Bristol", "a rowing club in Utrecht", "a ceramics studio in Sintra",
    "a ski rental in Bansko", "a toy museum in Nuremberg", "a ferry line in Split", "a start-up in Tartu",
    "a hardware store in Bergen", "a language school in Sevilla", "a tea importer in Hamburg", "a night pharmacy in Vilnius",
)  # fmt: skip

SIGHTS = (
    "an invoice for {k} euros that lists {m} seats although only {j} were ever booked",
    "a wheel spinning for {m} seconds on the voucher page once {k} is typed",
    "order {k}-{m} twice in the history, {j} minutes apart", "a red banner quoting error {k} beneath the map",
    "a build that stops at module {j} complaining about symbol v{k}", "a parcel scanned in depot {j} and again in depot {m}",
    "a chart whose last {j} bars are empty since week {m}", "{k} unread reminders for a meeting cancelled {j} days ago",
    "a password mail that links to tenant {k} instead of tenant {m}", "a subtotal of {k} next to a grand total of {m}",
    "query plan {k} scanning {m} partitions for {j} rows", "a calendar entry moved by {j} hours once summer time began",
    "a merge request with {m} conflicts in the locale file", "a coupon that took {j} percent off twice on basket {k}",
    "a photo upload that ends at {j} megabytes out of {m}", "pod {k} restarting every {j} minutes with exit code {m}",
    "the word undefined where shelf number {k} used to be", "a CSV in which column {j} slid into column {m}",
    "a letter of thanks to buyer {k}, who bought {j} and returned {m}", "a timer showing minus {j} seconds on lane {m}",
    "a unit test that expects {k} but receives {m} every {j}th run", "a refund of {k} cents for a {m} euro lamp",
)  # fmt: skip

TRIED = (
    "cleared cookies on {j} browsers", "moved from router {j} to a phone showing {m} percent", "rolled back to tag {k}",
    "phoned the hotline and waited {m} minutes", "compared it with the printout from {day}", "re-imported batch {k} by hand",
    "asked {friend} to repeat it on a tablet", "deleted {j} of the {m} saved addresses", "pinned the runner to image {k}",
    "read page {m} of the handbook aloud to {friend}", "exported everything since {day}", "unplugged scanner {j} overnight",
    "tried coupon {k} with {friend}'s account", "opened the archive from {day} in safe mode", "raised the limit to {k}",
    "sorted all {m} rows by postcode", "forwarded the message to {friend} on {day}", "swapped cable {j} for a new one",
)  # fmt: skip

WISHES = (
    "Which of the {j} charges should be returned, and to whom", "What single command proves that shard {m} is healthy",
    "May the agent correct line {k} itself, or must {other} sign",
    "How would you word reply {k} so that {other} is not blamed",
    "Is ticket {k} the same fault as {m}, and on what grounds", "Name the file behind fault {k} and the {j} tests to run",
    "Tell {name} the earliest hour on {day} at which shipping is possible", "Work out the total for {m} seats in euros and cents",
    "Say which log would settle case {m} and who may open it", "Should shipment {k} be stopped before {day}",
    "Give the rollback steps in at most {j} sentences", "Decide whether clause {m} covers the damage and quote it",
    "Find the newest backup older than {day} that still holds item {k}", "Suggest {j} questions that separate the two explanations",
    "Write the patch for module {m} without touching its callers", "Explain to {other} why the figure moved by {m} percent",
)  # fmt: skip

DAYS = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "New Year's Eve", "Ascension Day", "market day",
    "May Day", "Shrove Tuesday",
)  # fmt: skip

# Failures: errortype, tool (TOOLS above) and context = area_step.
ERROR_TYPES = (
    "timeout", "schema_mismatch", "empty_result", "permission_denied", "loop_detected", "wrong_total", "stale_read", "bad_patch",
    "parse_error", "rate_limited", "missed_step", "wrong_tool",
)  # fmt: skip

AREAS = (
    "checkout", "refund", "invoice", "parcel", "catalogue", "login", "export", "survey", "payroll", "warranty", "booking",
    "newsletter", "tariff", "inventory", "migration", "dispatch", "onboarding", "telemetry", "forecast", "harvest", "gallery",
    "voucher", "customs", "rota",
)  # fmt: skip

STEPS = (
    "flow", "summary", "lookup", "approval", "merge", "handover", "ranking", "preview", "settlement", "triage", "backfill",
    "reminder", "comparison", "split", "validation", "closing", "translation", "routing", "cleanup", "estimate",
)  # fmt: skip

EVIDENCE = (
    "{n} consecutive failures of {tool} within {m} minutes", "{tool} answered after {m}.{n} s, limit is {n} s",
    "run stopped at step {n}: {tool} returned an empty page", "expected {m} rows from {tool}, got {n}",
    "assertion on line {m} failed {n} times in a row", "{tool}: 403 on the second of {n} calls",
    "the reply repeated step {n} until the turn limit of {m}", "total off by {n}.{m} after {tool} was called twice",
    "patch rejected, {n} of {m} hunks did not apply", "{tool} was never called although the plan has it as step {n}",
)  # fmt: skip

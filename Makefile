# make setup: everything a fresh machine needs.  make call: hold a phone conversation.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
ASTERISK_CHROOT ?= out/asterisk

.PHONY: setup call test test-fast test-asterisk lint bench clean
setup: $(STAMP)

# FORCE=1 installs everything again (a damaged model file, say).
ifdef FORCE
.PHONY: $(STAMP)
endif
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Frontdesk needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet $(if $(FORCE),--force-reinstall,) -c constraints.txt -e '.[voice,espeak,whisper,sherpa,faiss,documents,multilingual,llm,dev]'
	$(BIN)/frontdesk models
	touch $@

call: setup
	$(BIN)/python -m bench.conversation

# Most of a slow test is waiting in real time, so three run beside each other, a file at a time.
# A call beside two others may be late on a slow machine: what failed is run once more, alone.
WORKERS ?= 3
test: setup lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile || \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -v

test-fast: setup
	$(BIN)/python -m pytest -m 'not slow'

# Calls through a real Asterisk in a chroot, which is made first: 640 MB, root, some minutes.
test-asterisk: setup
	tools/asterisk-chroot $(ASTERISK_CHROOT) $(BIN)/python -m pytest tests/asterisk

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/frontdesk bench rag
	$(BIN)/frontdesk bench call --baseline

clean:
	rm -rf $(VENV) out build *.egg-info .pytest_cache .mypy_cache .ruff_cache
